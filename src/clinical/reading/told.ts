/** What a clinical reading is made of: current versions of a record's resources, and what it looks up beside them. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';

/** What an AI has to do with a version: nothing, wrote it, or changed with it what somebody else had written. */
export type PartOfAi = 'no' | 'written' | 'changed';

/** A version of a resource that states something. */
export interface Told {
  readonly type: string;
  readonly id: string;
  readonly value: JsonObject;
}

/** What a reading looks up. */
export interface Around {
  /** The day of the reading, `YYYY-MM-DD`: periods that ended before are over. */
  readonly today: string;
  /** Returns the resource that a Reference leads to: contained in `within`, in the record, or in the directory. */
  readonly look: (reference: Json | undefined, within: JsonObject) => JsonObject | undefined;
  /** Returns the name of a CodeableConcept, or of a list of them; undefined if it has neither text nor codes. */
  readonly name: (concept: Json | undefined) => string | undefined;
}

/** A code with its system; an empty one for a code of none. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}
