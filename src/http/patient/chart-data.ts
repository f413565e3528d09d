/** What charts of a measurement show: values in the newest unit, and those that can't be converted to it apart. Pure. */
import type { Measured } from '#src/clinical/reading/rounding.ts';
import { type Convert, converterOf } from '#src/insight/units.ts';
import type { Texts } from '../pages/texts.ts';
import { type Judgement, judgementOf, rangeOf } from './judgement.ts';
import { type Observation, timeOf, type Valued } from './measures.ts';
import { resultName } from './result-names.ts';
import { measuredOf } from './values.ts';

/** A value in a chart. `grade` says how it is judged, if it is. */
export interface Point {
  readonly at: number;
  readonly value: number;
  readonly grade: Judgement['grade'] | undefined;
}

/** A line of a chart. */
export interface Series {
  readonly name: string;
  /** What its numbers are rounded by. */
  readonly measured: Measured;
  /** In the order of time. */
  readonly points: readonly Point[];
}

/** What a chart shows. */
export interface ChartData {
  readonly unit: string;
  readonly series: readonly Series[];
  readonly range: { readonly low: number | null; readonly high: number | null } | undefined;
}

/** Most lines of one chart; more are in another. */
const LINES = 3;

interface Line extends Series {
  readonly points: Point[];
  range: ChartData['range'];
}

/** Values that are converted to one unit. */
interface Group {
  readonly unit: string;
  readonly lines: Map<string, Line>;
}

/**
 * Returns the charts of observations of one code, that of the newest value first: a line, or one for each component, in
 * the newest unit, to which others of the same dimension are converted. Units that can't be converted are in charts of
 * their own: HbA1c in % and in mmol/mol. Also returns how many observations have no number.
 */
export function chartsOf(
  say: Texts,
  facts: readonly Observation[],
): { readonly charts: readonly ChartData[]; readonly without: number } {
  const newestFirst = [...facts].sort((a, b) => timeOf(b) - timeOf(a));
  const groups: Group[] = [];
  const places = new Map<string, { readonly group: Group; readonly convert: Convert }>();
  const placeOf = (unit: string) => {
    const known = places.get(unit);
    if (known !== undefined) return known;
    for (const group of groups) {
      const convert = group.unit === unit ? same : converterOf(unit, group.unit, undefined);
      if (convert !== undefined) return remember(unit, group, convert);
    }
    const group: Group = { unit, lines: new Map() };
    groups.push(group);
    return remember(unit, group, same);
  };
  const remember = (unit: string, group: Group, convert: Convert) => {
    const place = { group, convert };
    places.set(unit, place);
    return place;
  };
  const add = (key: string, part: Part, at: number, grade: Point['grade']): void => {
    if (part.value === null) return;
    const { group, convert } = placeOf(part.unit ?? '');
    const range = rangeOf({ reference_range: null, ...part });
    const end = (limit: number | null): number | null => (limit === null ? null : convert(limit));
    const converted = range === undefined ? null : { low: end(range.low), high: end(range.high) };
    const line: Line = group.lines.get(key) ?? {
      name: resultName(say, part),
      measured: measuredOf({ ...part, unit: group.unit, reference_range: converted }),
      points: [],
      range: undefined,
    };
    line.range ??= converted ?? undefined;
    line.points.unshift({ at, value: convert(part.value), grade });
    group.lines.set(key, line);
  };
  let without = 0;
  for (const each of newestFirst) {
    const parts = each.components;
    if ([each, ...parts].every(({ value }) => value === null)) without += 1;
    add('', each, timeOf(each), judgementOf(each)?.grade);
    for (const part of parts) add(part.code ?? part.display ?? '', part, timeOf(each), undefined);
  }
  const charts = groups.flatMap(({ unit, lines }) => {
    const all = [...lines.values()];
    const chunks = all.flatMap((_, i) => (i % LINES === 0 ? [all.slice(i, i + LINES)] : []));
    return chunks.map((series) => ({
      unit,
      series,
      range: series.length === 1 ? series[0]?.range : undefined,
    }));
  });
  return { charts, without };
}

const same: Convert = (value) => value;

/** A value of an observation, or of one of its components. */
type Part = Valued &
  Pick<Observation, 'system' | 'code' | 'display'> &
  Partial<Pick<Observation, 'reference_range'>>;
