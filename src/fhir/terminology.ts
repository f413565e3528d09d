/** What searches ask of a terminology: the codes of a value set, and what a code is a kind of. */
import { isEnumerated, valueSet } from './definitions/tables.ts';

/** A code of a code system. */
export interface SystemCode {
  readonly system: string;
  readonly code: string;
}

/** A terminology. What it does not know, and what it cannot enumerate, is undefined. */
export interface Terminology {
  /** All codes of a value set, by its canonical URL. */
  members(url: string): Promise<readonly SystemCode[] | undefined>;
  /** A code and all that it is a kind of (`above`), or all that are kinds of it (`below`). */
  related(direction: 'above' | 'below', code: SystemCode): Promise<readonly SystemCode[] | undefined>;
}

/** A code that was found. */
export interface FoundCode {
  readonly code: string;
  readonly display: string | null;
  /** Of observations with it. */
  readonly category: string | null;
  /** UCUM. */
  readonly unit: string | null;
}

/** Finds codes, the best first. @param system the code system's URL; one that is not here has none. */
export type FindCodes = (system: string, typed: string, limit: number) => Promise<readonly FoundCode[]>;

const VALUE_SETS = 'http://hl7.org/fhir/ValueSet/';

/** The value sets of R4's required bindings, as the tables enumerate them. It knows no hierarchies. */
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
