/** The inputs for a clinical reading: current versions of a record's resources, and lookups. */
import { codings, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import type { Death } from './person.ts';

/** An AI's part in a version: it had none, it wrote the entry, or it changed someone else's entry. */
export type PartOfAi = 'no' | 'written' | 'changed';

/** A version that a later version replaced. An AI wrote neither of the two. */
export interface Replaced {
  readonly value: JsonObject;
  /** When the later version was stored, as an instant. */
  readonly until: string;
}

/** A version of a resource that states something. */
export interface Told {
  readonly type: string;
  readonly id: string;
  readonly value: JsonObject;
  /** The earlier versions, newest first; only the ones that were read. */
  readonly replaced?: readonly Replaced[] | undefined;
}

/** The lookups and other context that a reading needs. */
export interface Around {
  /** The day on which the record is read, `YYYY-MM-DD`; periods that ended before it are over. */
  readonly today: string;
  /** The person's death; after it, nothing is current. */
  readonly died?: Death | undefined;
  /** Returns the target of a Reference, which may be contained in `within`, in the record, or in the directory. */
  readonly look: (reference: Json | undefined, within: JsonObject) => JsonObject | undefined;
  /**
   * Returns the name of a CodeableConcept, or of a list of CodeableConcepts; undefined if there are neither texts nor codes.
   */
  readonly name: (concept: Json | undefined) => string | undefined;
}

/** A code and its system; the system is empty if the code has none. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}

/** Returns the codes in one or more concepts. */
export function readCodes(value: Json | undefined): Coded[] {
  return codings(value).flatMap(({ system, code }) =>
    typeof code === 'string' ? [{ system: text(system) ?? '', code }] : [],
  );
}
