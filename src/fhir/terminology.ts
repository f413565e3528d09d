/** Defines the terminology lookups that searches need: the codes of a value set, and the codes above or below a code. */
import { isEnumerated, valueSet } from './definitions/tables.ts';
import type { SystemCode } from './parts.ts';

export type { SystemCode };

/** A terminology. Its methods return undefined if it does not contain the value set or code, or cannot list the codes. */
export interface Terminology {
  /**
   * Returns all codes of a value set, given by its canonical URL or by a literal reference, `ValueSet/<id>`:
   * https://hl7.org/fhir/R4/search.html#token
   */
  members(set: string): Promise<readonly SystemCode[] | undefined>;
  /** Returns a code with all its ancestors (`above`) or all its descendants (`below`). */
  related(direction: 'above' | 'below', code: SystemCode): Promise<readonly SystemCode[] | undefined>;
}

export interface FoundCode {
  readonly code: string;
  readonly display: string | null;
  /** The category of observations that have this code. */
  readonly category: string | null;
  /** The UCUM unit. */
  readonly unit: string | null;
}

/** The best matches, and the total number of codes that match. */
export interface FoundCodes {
  /** Best match first; at most as many as requested. */
  readonly codes: readonly FoundCode[];
  readonly total: number;
}

/**
 * Finds codes, best match first.
 * @param system the code system's URL; a system that isn't installed has no matches.
 */
export type FindCodes = (system: string, typed: string, limit: number) => Promise<FoundCodes>;

/** Returns the canonical URLs that HL7 assigns to a definition with a published id (`administrative-gender`). */
export function publishedUrls(type: string, id: string): string[] {
  const ends = [`hl7.org/fhir/${type}/${id}`, `hl7.org/fhir/${id}`, `terminology.hl7.org/${type}/${id}`];
  return ends.map((end) => `http://${end}`);
}

const VALUE_SETS = 'http://hl7.org/fhir/ValueSet/';

/** The value sets of R4's required bindings, as far as the tables list them. They have no hierarchies. */
export const requiredValueSets: Terminology = {
  async members(url) {
    const key = url.startsWith(VALUE_SETS) ? url.slice(VALUE_SETS.length).replace(/\|4\.0\.1$/, '') : '';
    if (!isEnumerated(key)) return undefined;
    return Object.entries(valueSet(key)).flatMap(([system, codes]) =>
      codes.map((code) => ({ system, code })),
    );
  },
  async related() {
    return undefined;
  },
};
