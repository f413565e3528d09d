/** The answer of a search with the events of the versions that it shows, as auditors take it along. */
import type { Environment } from './caller.ts';

/** The event of a version that the answer of a search shows. */
export interface ShownVersion {
  /** `Type/id`. */
  readonly resource: string;
  readonly version: number;
  readonly stream: string;
  readonly revision: number;
  readonly event: string;
  readonly hash: string;
}

/** A search with its answer. */
export interface AnsweredSearch {
  readonly project: string;
  readonly environment: Environment;
  /** Below the FHIR interface: `Observation?patient=…`. */
  readonly query: string;
  /** The moment as of which it was asked; undefined: now. */
  readonly asOf: string | undefined;
  /** The answer has all events up to this position of the event store, and may have later ones. */
  readonly position: string;
  /** False if the answer is one of several pages. */
  readonly complete: boolean;
  /** The Bundle's exact text. */
  readonly bundle: string;
  /** In the order of the Bundle. */
  readonly versions: readonly ShownVersion[];
}
