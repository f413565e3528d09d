/** Checkpoints that the service keeps for its auditors (docs/audit.md, "Checkpoints"). */

/** The facts in a checkpoint's statement that are kept. */
export interface CheckpointFacts {
  /** When the checkpoint was signed, as an instant. */
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
  /** Size of the compressed file, in bytes. */
  readonly bytes: number;
}

/** The head of a stream, or of a patient's access log, in a checkpoint. */
export interface CoveringCheckpoint {
  readonly id: string;
  /** When the checkpoint was made, as an instant. */
  readonly time: string;
  /** The last event's revision, or the last entry's number. */
  readonly revision: number;
  readonly hash: string;
  readonly root: string;
}
