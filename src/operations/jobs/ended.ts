/** The end of a job's command. */
import type { FailureReason } from '#src/shared/job.ts';
import type { Json } from '#src/shared/json/json.ts';

/** How an attempt ended: `again` means that the job goes back to waiting and is tried again soon. */
export interface Ending {
  readonly status: 'done' | 'failed' | 'again';
  readonly result?: Json;
  /** Why it failed, or waits. */
  readonly error?: string | undefined;
}

/** The end of a command. */
export interface Ended {
  /** The exit code; null if a signal ended it. */
  readonly code: number | null;
  readonly signal: string | null;
  /** The JSON that it printed; undefined if it printed none. */
  readonly printed: unknown;
  /** The sentence with which it failed. */
  readonly failure: string | undefined;
  /** Why it failed, if the job's end depends on it. */
  readonly reason?: FailureReason | undefined;
}
