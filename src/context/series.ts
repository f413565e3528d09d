/** Series: the Observations of one code, sorted by time. */

import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readCodes } from '#src/clinical/reading/stated.ts';
import { LOINC } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json.ts';
import { MEASURE_OF, type Measure } from './guidance/measures.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';

/** Observations of one code, newest first. */
export interface Series {
  readonly kind: Kind;
  readonly measure: Measure | undefined;
  readonly entries: readonly Entry[];
  /** Those without a value that are judged: they are the entries if none has a value. */
  readonly judged: readonly Entry[];
}

/** Findings that are vital signs when the Observation has no category. */
const VITAL: ReadonlySet<Measure> = new Set([
  ...([
    'pressure',
    'heartRate',
    'saturation',
    'breathing',
    'temperature',
    'weight',
    'height',
    'bmi',
    'head',
  ] as const),
]);

/** Groups Observations by code; those that say nothing and cancelled ones are skipped. */
export function groupSeries(entries: readonly Entry[]): Series[] {
  const found = new Map<string, Entry[]>();
  // Equal codes of a record mostly share one object.
  const keys = new Map<Json, string>();
  for (const entry of entries) {
    const { status, code = null } = entry.value;
    if (status === 'registered' || status === 'cancelled') continue;
    if (!entry.mayHaveValue && !entry.isOnlyJudged) continue;
    let key = keys.get(code);
    if (key === undefined) {
      key = seriesKey(code);
      keys.set(code, key);
    }
    if (found.get(key)?.push(entry) === undefined) found.set(key, [entry]);
  }
  return [...found.values()].map((all) => {
    const valued = all.filter(({ isOnlyJudged }) => !isOnlyJudged);
    const judged = valued.length === all.length ? [] : all.filter(({ isOnlyJudged }) => isOnlyJudged);
    return { ...placeSeries(all[0]), entries: valued.length === 0 ? all : valued, judged };
  });
}

function seriesKey(code: Json): string {
  const all = readCodes(code);
  const best = all.find(({ system }) => system === LOINC) ?? all[0];
  return best === undefined ? (nameConcept(code) ?? '').toLowerCase() : `${best.system}|${best.code}`;
}

function placeSeries(entry: Entry | undefined): {
  readonly kind: Kind;
  readonly measure: Measure | undefined;
} {
  const measure = readCodes(entry?.value.code)
    .map(({ code }) => MEASURE_OF.get(code))
    .find((each) => each !== undefined);
  const categories = readCodes(entry?.value.category).map(({ code }) => code);
  const isVital = measure !== undefined && VITAL.has(measure);
  if (categories.includes('vital-signs') || (categories.length === 0 && isVital))
    return { kind: 'vitals', measure };
  if (categories.includes('laboratory')) return { kind: 'labs', measure };
  return { kind: categories.includes('social-history') ? 'social_history' : 'observations', measure };
}
