/** Observations of a record, grouped by what was measured, in the order of time. Pure but for reading them. */
import { z } from 'zod';
import { listOf } from '../api/schemas.ts';
import type { Texts } from '../pages/texts.ts';
import type { OwnInputs, ReadAs } from './own-api.ts';
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

/** An observation as REST v1 shows it, and how the laboratory or device judges its value. */
export interface Observation extends z.output<typeof observation> {
  readonly interpretations: readonly string[] | undefined;
}

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
  const found: z.output<typeof observation>[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const query = { limit: LIMIT, cursor, code };
    const { data, next_cursor } = await pageOf(visit, record, READ, query);
    found.push(...data);
    cursor = next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  return { observations: await withInterpretations(visit, found), more: cursor !== undefined };
}

/** What the access log says of such a read. */
const READ: ReadAs = { action: 'search-type', resourceType: 'Observation' };

async function pageOf(visit: Visit, record: OpenRecord, read: ReadAs | null, query: OwnInputs['query'] = {}) {
  return visit.api.read(
    record,
    read,
    'listObservations',
    { params: { patient_id: record.record }, query },
    listOf(observation),
  );
}

async function withInterpretations(
  { deps }: Visit,
  found: readonly z.output<typeof observation>[],
): Promise<Observation[]> {
  const shown = found.filter(({ status }) => !WITHOUT_RESULT.includes(status));
  const said = await deps.pages.interpretations(shown.map(({ id }) => id));
  return shown.map((each) => ({ ...each, interpretations: said.get(each.id) }));
}

/** The number of observations that are read at most. */
export const MOST_OBSERVATIONS = LIMIT * PAGES;

/** The newest values of a kind that are read if the newest observations of the record have fewer of it. */
const OF_A_KIND = 60;

/**
 * Reads the newest values of each kind that a record has, so that a kind with thousands of values hides no other. Kinds
 * without a code, or with one of no system, are among the newest observations alone.
 * @throws Refusal
 */
export async function observationsOfEachKind(
  visit: Visit,
  record: OpenRecord,
): Promise<Observations & { readonly partial: ReadonlySet<string> }> {
  const { observations, more } = await observationsOf(visit, record);
  if (!more) return { observations, more, partial: new Set() };
  const partial = new Set(observations.map(keyOf));
  const counts = new Map<string, number>();
  for (const each of observations) counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
  const added: z.output<typeof observation>[] = [];
  for (const { system, code } of await visit.deps.pages.measuredKinds(record.record)) {
    const key = `${system}|${code}`;
    if ((counts.get(key) ?? 0) >= OF_A_KIND) continue;
    const { data, next_cursor } = await pageOf(visit, record, null, { limit: OF_A_KIND, code: key });
    added.push(...data);
    if (next_cursor === null) partial.delete(key);
    else partial.add(key);
  }
  await visit.api.noteRead(record, READ, added.length);
  const known = new Set(observations.map(({ id }) => id));
  const others = await withInterpretations(
    visit,
    [...new Map(added.map((each) => [each.id, each])).values()].filter(({ id }) => !known.has(id)),
  );
  const all = [...observations, ...others].sort((a, b) => timeOf(b) - timeOf(a));
  return { observations: all, more, partial };
}

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

/** Returns the date of a value as it is written, which says its day; without one, when it was recorded. */
export function dateOf({ effective_at, created_at }: Observation): string {
  return effective_at ?? created_at;
}
