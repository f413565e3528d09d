/** The searches for the row `search`, on `population`. No search returns a total, except the search that measures totals. */
import { ASKED } from './population.ts';

const NEWEST = '_sort=-date&_count=50&_total=none';
/** The codes' system. */
export const LOINC = 'http://loinc.org';

/** A path relative to the FHIR base. If the path depends on the patient, there is one path per patient. */
export interface SearchQuery {
  readonly name: string;
  /** The maximum ratio to the p50 of the first query. */
  readonly bound: number;
  path(patient: string, n: number): string;
}

/** Returns the first query: a patient's values for a code over about half of the period, newest first. */
export const first = (patient: string): string =>
  `Observation?patient=${patient}&code=${LOINC}|${ASKED.common}&date=ge2018-01-01&date=lt2022-06-01&${NEWEST}`;

const ofAll = (name: string, bound: number, query: string): SearchQuery => ({
  name,
  bound,
  path: () => query,
});

/** The searches that are compared with the first. */
export const SEARCHES: readonly SearchQuery[] = [
  ofAll('a code that one in 8 has, newest', 4, `Observation?code=${LOINC}|${ASKED.common}&${NEWEST}`),
  ofAll('a code that one in 100 has, newest', 4, `Observation?code=${LOINC}|${ASKED.medium}&${NEWEST}`),
  ofAll('a code that one in 1,000 has, newest', 4, `Observation?code=${ASKED.uncommon}&${NEWEST}`),
  ofAll('a code that twenty have, newest', 4, `Observation?code=${ASKED.rare}&${NEWEST}`),
  {
    name: 'a category of a patient',
    bound: 4,
    path: (patient) => `Observation?patient=${patient}&category=laboratory&_count=50&_total=none`,
  },
  {
    name: 'a name that begins with',
    bound: 4,
    path: (_, n) => `Patient?name=${['kalo', 'mira', 'tuve', 'sendor'][n % 4]}&_count=50&_total=none`,
  },
  {
    name: 'chain',
    bound: 8,
    path: (patient) =>
      `Observation?subject:Patient._id=${patient}&code=${ASKED.common}&_count=50&_total=none`,
  },
  ofAll('_has', 8, `Patient?_has:Observation:patient:code=${ASKED.rare}&_count=50&_total=none`),
  { name: '_include', bound: 8, path: (patient) => `${first(patient)}&_include=Observation:encounter` },
  {
    name: '_revinclude',
    bound: 8,
    path: (patient) => `Patient?_id=${patient}&_revinclude=Condition:patient&_total=none`,
  },
  ofAll('composite', 8, `Observation?code-value-quantity=${LOINC}|${ASKED.common}$gt200&${NEWEST}`),
  ofAll('quantity range', 8, `Observation?value-quantity=gt100&value-quantity=lt110&${NEWEST}`),
];

/** The first page of this search is compared with the page 1,000 pages later. */
export const WALKED = `Observation?${NEWEST}`;

/** The search's total, which counts a third of all resources, is compared with a plain count. */
export const COUNTED = {
  category: 'laboratory',
  query: 'category=laboratory&_sort=-date&_count=50',
} as const;
