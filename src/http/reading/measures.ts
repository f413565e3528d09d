/** Groups a record's observations by measurement, in chronological order. Pure, except for reading the observations. */
import { z } from 'zod';
import type { Interpretations, Judged } from '#queries/rest/interpretations.ts';
import type { MeasuredKind } from '#queries/rest/measured-kinds.ts';
import { decimalText } from '#src/clinical/reading/numbers/decimal.ts';
import { saysSame } from '#src/shared/time/day.ts';
import { resultName } from '../pages/result-names.ts';
import type { Texts } from '../pages/texts.ts';
import { type Judgement, judge } from './judgement.ts';

const coded = z.object({ code: z.string().nullable(), display: z.string().nullable() });
/** A number as its literal, because the digits of 7.0 matter (docs/decisions/0009-literals-are-kept.md). */
const decimal = z.preprocess((value) => decimalText(value), z.string());
const valued = {
  code: z.string().nullable(),
  system: z.string().nullable(),
  display: z.string().nullable(),
  value: decimal.nullable(),
  unit: z.string().nullable(),
  value_text: z.string().nullable(),
  value_code: coded.nullable(),
  value_boolean: z.boolean().nullable(),
};

const range = z.object({ low: decimal.nullable(), high: decimal.nullable() });

const observation = z.object({
  ...valued,
  id: z.string(),
  category: z.string().nullable(),
  effective_at: z.string().nullable(),
  components: z.array(z.object({ ...valued, reference_range: range.optional() })),
  reference_range: range.nullable(),
  note: z.string().nullable(),
  status: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string().optional(),
  author_type: z.string(),
  fhir: z.string(),
});

/** An observation as REST v1 shows it, with the laboratory's or device's judgement of its value. */
export interface Observation extends z.output<typeof observation> {
  readonly interpretations: readonly string[] | undefined;
  /** When the observation was reported; set if it doesn't say when the value was measured. */
  readonly reported: string | undefined;
}

/** A page of `listObservations`. */
interface ObservationPage {
  readonly data: readonly z.output<typeof observation>[];
  readonly next_cursor: string | null;
}

/** The observations to read from a record. */
export interface AskedResults {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** `system|code`; if absent, all codes. */
  readonly code?: string | undefined;
}

/** The results in one record. */
export interface ResultSource {
  /**
   * Reads a page of `listObservations`, newest first.
   * @param isNoted whether this function itself records the read in the access log
   * @throws Refusal
   */
  readonly read: (asked: AskedResults, isNoted: boolean) => Promise<ObservationPage>;
  readonly interpretations: Interpretations;
  readonly kinds: () => Promise<readonly MeasuredKind[]>;
  /** Records a read of further observations in the access log. */
  readonly note: (count: number) => Promise<void>;
}

/** Reads an observation as REST v1 shows it. */
export function readObservation(shown: object): z.output<typeof observation> {
  return observation.parse(shown);
}

export type Valued = Pick<Observation, 'value' | 'unit' | 'value_text' | 'value_code' | 'value_boolean'>;

/** All observations with one code. */
export interface Measure {
  /** `system|code`, as lists in REST v1 accept it; if there is no code, the display. */
  readonly key: string;
  readonly system: string | null;
  readonly code: string | null;
  readonly name: string;
  /** The laboratory's or device's name for the measurement, if it is different. */
  readonly display: string | undefined;
  readonly category: string;
  /**
   * Sorted newest first. Facts from the same time are sorted most severe first; facts without a date come last. None of them
   * was written by an AI.
   */
  readonly facts: readonly Observation[];
  /**
   * The newest fact that has a value; if no fact has one, the newest with a judgement; if there is none either, the newest.
   * Undefined if there are no facts.
   */
  readonly latest: Observation | undefined;
  /** The newest fact, if it isn't `latest`. It has no value, for example because the measurement failed. */
  readonly failed: Observation | undefined;
  /** Facts from the same time as `latest` that have a different value. It is unknown which value is right. */
  readonly beside: readonly Observation[];
  /** How a later version changed the value of `latest`, in words, if this was read. */
  readonly changed?: string | undefined;
  /** Observations that an AI wrote. */
  readonly notes: readonly Observation[];
}

/** Number of observations on a page of the list. */
const LIMIT = 200;
/** Maximum number of pages of the list that are read to show one page to a person. */
const PAGES = 5;

/** A record's newest observations, and whether it has more. */
export interface Observations {
  readonly observations: readonly Observation[];
  readonly more: boolean;
  /** Number of observations that were read but aren't shown, because they were cancelled or have no result yet. */
  readonly notDone: number;
}

/** Statuses of observations without a result. These aren't shown here or in a summary. */
const WITHOUT_RESULT: readonly (string | null)[] = ['cancelled', 'registered'];

/**
 * Reads the newest observations that have a result.
 * @param code `system|code`; if absent, all codes
 * @throws Refusal
 */
export async function readObservations(source: ResultSource, code?: string): Promise<Observations> {
  const found: z.output<typeof observation>[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const { data, next_cursor } = await source.read({ limit: LIMIT, cursor, code }, true);
    found.push(...data);
    cursor = next_cursor ?? undefined;
    if (cursor === undefined) break;
  }
  const observations = await withInterpretations(source, found);
  return { observations, more: cursor !== undefined, notDone: found.length - observations.length };
}

async function withInterpretations(
  { interpretations }: ResultSource,
  found: readonly z.output<typeof observation>[],
): Promise<Observation[]> {
  const shown = found.filter(({ status }) => !WITHOUT_RESULT.includes(status));
  const said = await interpretations(shown.map(({ id }) => id));
  return shown.map((each) => ({ ...each, ...beside(said.get(each.id)) }));
}

/** Returns the facts about an observation that REST v1 doesn't show, as far as they are known. */
export function beside(said: Judged | undefined): Judged {
  return said ?? { interpretations: undefined, reported: undefined };
}

/** Maximum number of observations that are read. */
export const MOST_OBSERVATIONS = LIMIT * PAGES;

/**
 * If the record's newest observations contain fewer values of a kind than this number, this many of the kind's newest values
 * are read.
 */
const OF_A_KIND = 60;

/**
 * Reads the newest values of each kind in a record, so that a kind with thousands of values doesn't hide the others. Kinds
 * without a code, or whose code has no system, are found only among the newest observations.
 * @throws Refusal
 */
export async function observationsOfEachKind(
  source: ResultSource,
): Promise<Observations & { readonly partial: ReadonlySet<string> }> {
  const { observations, more, notDone } = await readObservations(source);
  if (!more) return { observations, more, notDone, partial: new Set() };
  const partial = new Set(observations.map(measureKey));
  const counts = new Map<string, number>();
  for (const each of observations) counts.set(measureKey(each), (counts.get(measureKey(each)) ?? 0) + 1);
  const added: z.output<typeof observation>[] = [];
  for (const { system, code } of await source.kinds()) {
    const key = `${system}|${code}`;
    if ((counts.get(key) ?? 0) >= OF_A_KIND) continue;
    const { data, next_cursor } = await source.read({ limit: OF_A_KIND, code: key }, false);
    added.push(...data);
    if (next_cursor === null) partial.delete(key);
    else partial.add(key);
  }
  await source.note(added.length);
  const known = new Set(observations.map(({ id }) => id));
  const others = await withInterpretations(
    source,
    [...new Map(added.map((each) => [each.id, each])).values()].filter(({ id }) => !known.has(id)),
  );
  return { observations: [...observations, ...others], more, notDone, partial };
}

/** Number of newest values of a kind that are read in order to find one that an AI didn't write. */
const FOR_A_FACT = 10;

/**
 * Reads the newest value of each kind in a record, and other values along with it.
 * @returns also whether all kinds are included; kinds without a code are found only among the newest observations
 * @throws Refusal
 */
export async function newestOfEachKind(
  source: ResultSource,
): Promise<{ readonly observations: readonly Observation[]; readonly isWhole: boolean }> {
  const { data, next_cursor } = await source.read({ limit: LIMIT }, true);
  const found = new Map(data.map((each) => [each.id, each]));
  if (next_cursor !== null) {
    const seen = new Set(data.filter(isFact).map(measureKey));
    for (const { system, code } of await source.kinds()) {
      const key = `${system}|${code}`;
      if (seen.has(key)) continue;
      const page = await source.read({ limit: FOR_A_FACT, code: key }, false);
      for (const each of page.data) found.set(each.id, each);
    }
    await source.note(found.size - data.length);
  }
  return {
    observations: await withInterpretations(source, [...found.values()]),
    isWhole: next_cursor === null,
  };
}

function isFact(each: z.output<typeof observation>): boolean {
  return each.author_type !== 'ai' && !WITHOUT_RESULT.includes(each.status) && hasValue(each);
}

function hasValue({ components, ...each }: Valued & Partial<Pick<Observation, 'components'>>): boolean {
  const { value, value_text, value_code, value_boolean } = each;
  return (
    [value, value_text, value_code, value_boolean].some((said) => said !== null) ||
    (components ?? []).some(hasValue)
  );
}

function isJudged({ interpretations = [] }: Observation): boolean {
  return interpretations.length > 0;
}

/** Groups observations by code. Groups with the newest values come first. */
export function groupMeasures(say: Texts, observations: readonly Observation[]): Measure[] {
  const groups = new Map<string, Observation[]>();
  const newestFirst = [...observations].sort(
    (a, b) => measuredTime(b) - measuredTime(a) || graveness(b) - graveness(a),
  );
  for (const each of newestFirst) {
    const key = measureKey(each);
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  return [...groups].map(([key, all]) => {
    const facts = all.filter(({ author_type }) => author_type !== 'ai');
    // The name that an AI uses must not become the name of a fact.
    const first = [...facts, ...all].find((each) => each.display !== null) ?? all[0];
    const name = first === undefined ? say('entry.unnamed') : resultName(say, first);
    const [newest] = facts;
    const latest = facts.find(hasValue) ?? facts.find(isJudged) ?? newest;
    return {
      key,
      system: first?.system ?? null,
      code: first?.code ?? null,
      name,
      display: first?.display === name ? undefined : (first?.display ?? undefined),
      category: all.find(({ category }) => category !== null)?.category ?? 'other',
      facts,
      latest,
      failed: latest === newest ? undefined : newest,
      beside: latest === undefined ? [] : findBeside(latest, facts),
      notes: all.filter(({ author_type }) => author_type === 'ai'),
    };
  });
}

function measureKey({ system, code, display }: Pick<Observation, 'system' | 'code' | 'display'>): string {
  if (code === null) return display ?? '';
  return system === null ? code : `${system}|${code}`;
}

/** The members that make up a value. */
const SAYS = ['value', 'unit', 'value_text', 'value_code', 'value_boolean', 'components'] as const;

/** Returns a value as text that is the same for 7 and 7.0. */
function printValue(each: Observation): string {
  const said = Object.fromEntries(SAYS.map((name) => [name, each[name]]));
  return JSON.stringify(said, (name, own: unknown) =>
    name === 'value' && typeof own === 'string' ? Number(own) : own,
  );
}

/** Returns the facts from the same time as `latest` that have a different value, each value once. */
function findBeside(latest: Observation, facts: readonly Observation[]): Observation[] {
  const date = latest.effective_at ?? latest.reported;
  const seen = new Set([printValue(latest)]);
  return facts.filter((each) => {
    const own = each.effective_at ?? each.reported;
    if (date === undefined || own === undefined || !saysSame(own, date) || !hasValue(each)) return false;
    const isNew = !seen.has(printValue(each));
    seen.add(printValue(each));
    return isNew;
  });
}

/**
 * Returns when an observation was made or, if unknown, reported, in milliseconds since 1970. Observations without a date sort
 * before all others.
 */
function measuredTime({ effective_at, reported = '' }: Observation): number {
  const said = Date.parse(effective_at ?? reported);
  return Number.isNaN(said) ? Number.MIN_SAFE_INTEGER : said;
}

const GRAVENESS: Readonly<Record<Judgement['grade'], number>> = { good: 0, out: 2, critical: 3 };

/**
 * Returns how severe a value's judgement is. Higher numbers are more severe; a value without a judgement ranks above a normal
 * one.
 */
export function graveness(each: Observation): number {
  const judgement = judge(each);
  return judgement === undefined ? 1 : GRAVENESS[judgement.grade];
}

/** Returns the kinds whose latest value can't be judged, because it has neither a judgement nor a range. */
export function unjudgedAmong(measures: readonly Measure[]): Measure[] {
  return measures.filter(({ latest }) => latest !== undefined && judge(latest) === undefined);
}

/**
 * Returns the measurements whose latest result, or a later one without a value, is judged abnormal or is outside its range,
 * most severe first.
 */
export function abnormalAmong(measures: readonly Measure[]): Measure[] {
  const gravenessNow = ({ latest, failed }: Measure): number =>
    Math.max(...[latest, failed].map((each) => (each === undefined ? 0 : graveness(each))));
  return measures
    .filter((measure) => gravenessNow(measure) >= GRAVENESS.out)
    .sort((a, b) => gravenessNow(b) - gravenessNow(a));
}
