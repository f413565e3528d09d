/** A search's answer, together with the events of the versions that it shows, as exported for auditors. */
import type { Environment } from './caller.ts';

/** The event of a version that a search's answer shows. */
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
  /** Relative to the base URL of the FHIR interface: `Observation?patient=…`. */
  readonly query: string;
  /** The point in time for which the search asked; undefined for now. */
  readonly asOf: string | undefined;
  /** The answer includes all events up to this position in the event store, and may include later ones. */
  readonly position: string;
  /** False if the answer is only one of several pages. */
  readonly complete: boolean;
  /** The Bundle's exact text. */
  readonly bundle: string;
  /** In the same order as in the Bundle. */
  readonly versions: readonly ShownVersion[];
}
