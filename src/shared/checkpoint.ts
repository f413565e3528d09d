/** Checkpoints that the service keeps for its auditors (docs/audit.md, "Checkpoints"). */

/** The facts of a checkpoint's statement that are kept. */
export interface CheckpointFacts {
  /** Instant at which it was signed. */
  readonly time: string;
  readonly position: string;
  readonly events: number;
  readonly streams: number;
  readonly access_logs: number;
  readonly root: string;
}

/** A checkpoint without its lines. */
export interface KeptCheckpoint extends CheckpointFacts {
  readonly id: string;
  readonly public_key: string;
  /** Of the compressed file. */
  readonly bytes: number;
}

/** The head of a stream, or of a patient's access log, in a checkpoint. */
export interface CoveringCheckpoint {
  readonly id: string;
  /** Instant at which it was made. */
  readonly time: string;
  /** Of the last event, or number of the last entry. */
  readonly revision: number;
  readonly hash: string;
  readonly root: string;
}
