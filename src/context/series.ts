/** Groups Observations into series. A series contains the Observations with one code, sorted by time. */

import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { LOINC } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json.ts';
import { MEASURE_OF, type Measure } from './guidance/measures.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';

/** Observations with one code, newest first. */
export interface Series {
  readonly kind: Kind;
  readonly measure: Measure | undefined;
  readonly entries: readonly Entry[];
  /** Observations with an interpretation but no value; used as the entries if no Observation has a value. */
  readonly judged: readonly Entry[];
}

/** Findings that are treated as vital signs if the Observation has no category. */
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

/** Groups Observations by code, leaving out cancelled ones and ones that say nothing. */
export function groupSeries(entries: readonly Entry[]): Series[] {
  const found = new Map<string, Grouped>();
  // Equal codes in a record usually share one object.
  const groups = new Map<Json, Grouped>();
  for (const entry of entries) {
    const { status, code = null } = entry.value;
    if (status === 'registered' || status === 'cancelled') continue;
    const { isOnlyJudged } = entry;
    if (!entry.mayHaveValue && !isOnlyJudged) continue;
    let group = groups.get(code);
    if (group === undefined) {
      const key = seriesKey(code);
      group = found.get(key) ?? { valued: [], judged: [] };
      found.set(key, group);
      groups.set(code, group);
    }
    (isOnlyJudged ? group.judged : group.valued).push(entry);
  }
  return [...found.values()].map(({ valued, judged }) => {
    const own = valued.length === 0 ? judged : valued;
    return { ...placeSeries(own[0]), entries: own, judged };
  });
}

/** Entries with the same code. */
interface Grouped {
  readonly valued: Entry[];
  readonly judged: Entry[];
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
