/** How a job's command ended. */
import type { FailureReason } from '#src/shared/job.ts';
import type { Json } from '#src/shared/json/json.ts';

/** How an attempt ended. `again` means that the job becomes waiting again and is retried soon. */
export interface Ending {
  readonly status: 'done' | 'failed' | 'again';
  readonly result?: Json;
  /** Why the job failed or is waiting. */
  readonly error?: string | undefined;
}

/** How a command ended. */
export interface Ended {
  /** The exit code; null if a signal terminated the command. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The JSON that the command printed; undefined if it printed none. */
  readonly printed: unknown;
  /** The sentence that explains its failure. */
  readonly failure: string | undefined;
  /** Why the command failed, if the job's outcome depends on it. */
  readonly reason?: FailureReason | undefined;
}
