/**
 * Prepares the data for a measurement's charts: values in the newest unit and, separately, values that can't be converted to
 * that unit. Pure.
 */
import type { Measured } from '#src/clinical/reading/numbers/quantity.ts';
import { type Convert, findConverter } from '#src/insight/units.ts';
import { resultName } from '../../pages/result-names.ts';
import type { Texts } from '../../pages/texts.ts';
import { findRange, type Judgement, judge } from '../../reading/judgement.ts';
import type { Observation, Valued } from '../../reading/measures.ts';
import { type Ranged, toMeasured } from '../../reading/values.ts';

/** A value in a chart. `grade` is the judgement of the value, if there is one. */
export interface Point {
  /** The observation that contains the value. */
  readonly id: string;
  /** The observation's date as written, which determines the day. */
  readonly date: string;
  readonly at: number;
  readonly value: number;
  /** The value's digits: as written, or as converted to the chart's unit. */
  readonly literal: string;
  readonly grade: Judgement['grade'] | undefined;
}

/** A line of a chart. */
export interface Series {
  readonly name: string;
  /** What determines how the numbers are rounded. */
  readonly measured: Measured;
  /** In chronological order. */
  readonly points: readonly Point[];
}

export interface ChartData {
  readonly unit: string;
  readonly series: readonly Series[];
  /** The ends' literals. */
  readonly range: { readonly low: string | null; readonly high: string | null } | undefined;
}

/** Maximum number of lines in a chart; further lines go in another chart. */
const LINES = 3;

interface Line extends Series {
  readonly points: Point[];
  range: ChartData['range'];
}

/** Values that are converted to the same unit. */
interface Group {
  readonly unit: string;
  readonly lines: Map<string, Line>;
}

/**
 * Returns the charts for observations with one code, starting with the chart that contains the newest value. Each chart has
 * one line, or one line for each component, in the newest unit; values in units of the same dimension are converted. Values in
 * units that can't be converted have their own charts, for example HbA1c in % and in mmol/mol. Values without a number or a
 * date are in no chart.
 * @param facts newest first
 */
export function makeCharts(say: Texts, facts: readonly Observation[]): readonly ChartData[] {
  const groups: Group[] = [];
  const places = new Map<string, { readonly group: Group; readonly convert: Convert }>();
  const findPlace = (unit: string) => {
    const known = places.get(unit);
    if (known !== undefined) return known;
    for (const group of groups) {
      const convert = group.unit === unit ? same : findConverter(unit, group.unit, undefined);
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
  const add = (
    key: string,
    part: Part,
    { id, effective_at: date }: Observation,
    grade: Point['grade'],
  ): void => {
    if (part.value === null || date === null) return;
    const { group, convert } = findPlace(part.unit ?? '');
    const range = findRange(part);
    const inUnit = (literal: string): string =>
      convert === same ? literal : String(convert(Number(literal)));
    const end = (limit: string | null): string | null => (limit === null ? null : inUnit(limit));
    const converted = range === undefined ? null : { low: end(range.low), high: end(range.high) };
    const line: Line = group.lines.get(key) ?? {
      name: resultName(say, part),
      measured: toMeasured({ ...part, unit: group.unit, reference_range: converted }),
      points: [],
      range: undefined,
    };
    line.range ??= converted ?? undefined;
    const literal = inUnit(part.value);
    line.points.unshift({ id, date, at: Date.parse(date), value: Number(literal), literal, grade });
    group.lines.set(key, line);
  };
  for (const each of facts) {
    add('', each, each, judge(each)?.grade);
    for (const part of each.components) add(part.code ?? part.display ?? '', part, each, judge(part)?.grade);
  }
  return groups.flatMap(({ unit, lines }) => {
    const all = [...lines.values()];
    const chunks = all.flatMap((_, i) => (i % LINES === 0 ? [all.slice(i, i + LINES)] : []));
    return chunks.map((series) => ({
      unit,
      series,
      range: series.length === 1 ? series[0]?.range : undefined,
    }));
  });
}

/** Returns the number of observations that aren't in any of the given charts. */
export function countLeft(facts: readonly Observation[], charts: readonly ChartData[]): number {
  const points = charts.flatMap(({ series }) => series.flatMap((line) => line.points));
  const drawn = new Set(points.map(({ id }) => id));
  return facts.filter(({ id }) => !drawn.has(id)).length;
}

const same: Convert = (value) => value;

/** A value of an observation, or of one of its components. */
type Part = Valued & Pick<Observation, 'system' | 'code' | 'display'> & Ranged;
