/** Observations of a record, grouped by what was measured, in the order of time. Pure but for reading them. */
import { z } from 'zod';
import { listOf } from '../api/schemas.ts';
import type { Texts } from '../pages/texts.ts';
import type { OpenRecord } from './records.ts';
import { resultName } from './result-names.ts';
import type { Visit } from './visit.ts';

const coded = z.object({ code: z.string().nullable(), display: z.string().nullable() });
const valued = {
  code: z.string().nullable(),
  system: z.string().nullable(),
  display: z.string().nullable(),
  value: z.number().nullable(),
  unit: z.string().nullable(),
  value_text: z.string().nullable(),
  value_code: coded.nullable(),
  value_boolean: z.boolean().nullable(),
};

const observation = z.object({
  ...valued,
  id: z.string(),
  category: z.string().nullable(),
  effective_at: z.string().nullable(),
  components: z.array(z.object(valued)),
  reference_range: z.object({ low: z.number().nullable(), high: z.number().nullable() }).nullable(),
  note: z.string().nullable(),
  status: z.string().nullable(),
  created_at: z.string(),
  author_type: z.string(),
  fhir: z.string(),
});

/** An observation as REST v1 shows it. */
export type Observation = z.output<typeof observation>;

/** A value with its unit. */
export type Valued = Pick<Observation, 'value' | 'unit' | 'value_text' | 'value_code' | 'value_boolean'>;

/** Everything of one code. */
export interface Measure {
  /** `system|code`, as a list of REST v1 takes it; the display where there is no code. */
  readonly key: string;
  readonly name: string;
  /** What the laboratory or device calls it, if that is another name. */
  readonly display: string | undefined;
  readonly category: string;
  /** The newest first; never by AI. */
  readonly facts: readonly Observation[];
  /** What AI noted. */
  readonly notes: readonly Observation[];
}

/** Observations of a page of the list. */
const LIMIT = 200;
/** Most pages of the list for one page of ours. */
const PAGES = 5;

/** The newest observations of a record, and whether there are more. */
export interface Observations {
  readonly observations: readonly Observation[];
  readonly more: boolean;
}

/** Statuses of what has no result: as in a summary, these aren't shown. */
const WITHOUT_RESULT: readonly (string | null)[] = ['cancelled', 'registered'];

/** Reads the newest observations that have a result. @param code `system|code`; all without it @throws Refusal */
export async function observationsOf(visit: Visit, record: OpenRecord, code?: string): Promise<Observations> {
  const found: Observation[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const { data, next_cursor } = await visit.api.read(
      record,
      { action: 'search-type', resourceType: 'Observation' },
      'listObservations',
      { params: { patient_id: record.record }, query: { limit: LIMIT, cursor, code } },
      listOf(observation),
    );
    found.push(...data.filter(({ status }) => !WITHOUT_RESULT.includes(status)));
    if (next_cursor === null) return { observations: found, more: false };
    cursor = next_cursor;
  }
  return { observations: found, more: true };
}

/** The number of observations that are read at most. */
export const MOST_OBSERVATIONS = LIMIT * PAGES;

/** Groups observations by their code, those with the newest value first. */
export function measuresOf(say: Texts, observations: readonly Observation[]): Measure[] {
  const groups = new Map<string, Observation[]>();
  for (const each of observations) {
    const key = keyOf(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups].map(([key, all]) => {
    const first = all.find((each) => each.display !== null) ?? all[0];
    const name = first === undefined ? say('entry.unnamed') : resultName(say, first);
    return {
      key,
      name,
      display: first?.display === name ? undefined : (first?.display ?? undefined),
      category: all.find(({ category }) => category !== null)?.category ?? 'other',
      facts: all.filter(({ author_type }) => author_type !== 'ai'),
      notes: all.filter(({ author_type }) => author_type === 'ai'),
    };
  });
}

function keyOf({ system, code, display }: Observation): string {
  if (code === null) return display ?? '';
  return system === null ? code : `${system}|${code}`;
}

/** Returns when an observation was made: its own time, else when it was recorded. Milliseconds since 1970. */
export function timeOf({ effective_at, created_at }: Observation): number {
  const said = Date.parse(effective_at ?? '');
  return Number.isNaN(said) ? Date.parse(created_at) : said;
}

/** Returns what `timeOf` returns as a FHIR date-time in UTC, no more exact than it was written: `2024` stays a year. */
export function dateOf(observation: Observation): string {
  const { effective_at } = observation;
  return effective_at !== null && /^\d{4}(?:-\d\d)?$/.test(effective_at)
    ? effective_at
    : new Date(timeOf(observation)).toISOString();
}

/** A line of a chart. */
export interface Series {
  readonly name: string;
  readonly unit: string;
  /** In the order of time. */
  readonly points: readonly { readonly at: number; readonly value: number; readonly out: boolean }[];
}

/** Returns the reference range of an observation's own value; undefined if it has none, or none with a limit. */
export function rangeOf({ value, reference_range: range }: Observation): ChartData['range'] {
  return value === null || range === null || (range.low === null && range.high === null) ? undefined : range;
}

/** What a chart shows. */
export interface ChartData {
  readonly series: readonly Series[];
  readonly range: { readonly low: number | null; readonly high: number | null } | undefined;
  /** Values that the chart leaves out, because they have no number or another unit. */
  readonly left: number;
}

/** Returns the chart of observations of one code: one line, or one for each component; of the newest value's unit. */
export function chartOf(say: Texts, facts: readonly Observation[]): ChartData {
  const ordered = [...facts].sort((a, b) => timeOf(a) - timeOf(b));
  const isOut = (value: number, own: Observation['reference_range']): boolean =>
    own !== null && ((own.low !== null && value < own.low) || (own.high !== null && value > own.high));
  const lines = new Map<string, { name: string; unit: string; points: Series['points'][number][] }>();
  const add = (key: string, name: string, at: number, { value, unit }: Valued, out: boolean): void => {
    if (value === null) return;
    const line = lines.get(`${key} ${unit ?? ''}`) ?? { name, unit: unit ?? '', points: [] };
    line.points.push({ at, value, out });
    lines.set(`${key} ${unit ?? ''}`, line);
  };
  for (const each of ordered) {
    add('', resultName(say, each), timeOf(each), each, isOut(each.value ?? 0, each.reference_range));
    for (const part of each.components)
      add(part.code ?? part.display ?? '', resultName(say, part), timeOf(each), part, false);
  }
  const newest = [...lines.values()].sort((a, b) => (b.points.at(-1)?.at ?? 0) - (a.points.at(-1)?.at ?? 0));
  const unit = newest[0]?.unit;
  const series = newest.filter((line) => line.unit === unit).slice(0, 3);
  const range = ordered.findLast((each) => rangeOf(each) !== undefined && (each.unit ?? '') === unit);
  const shown = new Set(series.flatMap(({ points }) => points.map(({ at }) => at)));
  return {
    series,
    range: series.length === 1 && range !== undefined ? rangeOf(range) : undefined,
    left: ordered.filter((each) => !shown.has(timeOf(each))).length,
  };
}
