/** The inputs of a clinical reading: current versions of a record's resources, and look-ups. */
import { codings, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import type { Death } from './person.ts';

/** The part of an AI in a version: none, it wrote the entry, or it changed the entry of somebody else. */
export type PartOfAi = 'no' | 'written' | 'changed';

/** A version that a later one replaced. Neither was written by an AI. */
export interface Replaced {
  readonly value: JsonObject;
  /** When the later one was stored, as an instant. */
  readonly until: string;
}

/** A version of a resource that states something. */
export interface Told {
  readonly type: string;
  readonly id: string;
  readonly value: JsonObject;
  /** The versions that it replaced, the newest first, as far as they were read. */
  readonly replaced?: readonly Replaced[] | undefined;
}

/** The look-ups of a reading. */
export interface Around {
  /** The day of the reading, `YYYY-MM-DD`: periods that ended before are over. */
  readonly today: string;
  /** The person's death: nothing is current after it. */
  readonly died?: Death | undefined;
  /** Returns the target of a Reference: contained in `within`, in the record, or in the directory. */
  readonly look: (reference: Json | undefined, within: JsonObject) => JsonObject | undefined;
  /** Returns the name of a CodeableConcept, or of a list of them; undefined if it has neither text nor codes. */
  readonly name: (concept: Json | undefined) => string | undefined;
}

/** A code with its system; an empty one for a code of none. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}

/** Returns the codes of one or more concepts. */
export function readCodes(value: Json | undefined): Coded[] {
  return codings(value).flatMap(({ system, code }) =>
    typeof code === 'string' ? [{ system: text(system) ?? '', code }] : [],
  );
}
