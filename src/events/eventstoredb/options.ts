/** The options for opening an EventStoreDB. */
import type { LogClosed } from '../closed.ts';
import type { WrittenBatch } from '../store.ts';

/** Options for `EventStoreDbStore.open`. */
export interface EventStoreDbOptions {
  /**
   * `esdb://user:password@host:2113?tls=true`, several hosts for gossip seeds, `esdb+discover://` for a cluster's DNS name.
   * `kurrentdb:` means the same.
   */
  readonly url: string;
  /** Logs lost connections; may be a pino logger. */
  readonly log?: { warn(details: object, message: string): void };
  /** Called with the number of appends in each acknowledged batch, which is always one here. */
  readonly onBatch?: (appends: number) => void;
  /**
   * Called with each append that the subscription receives, whichever process wrote it. If it is set, this process follows the
   * log even without subscribers.
   */
  readonly onHeard?: ((batch: WrittenBatch) => void) | undefined;
  /** Called when the subscription that follows the log begins or resumes, and each time it fails. */
  readonly onFollowing?: (follows: boolean) => void;
  /** Called once if the log is found to be closed while this process uses it: nothing more can be written to it. */
  readonly onClosed?: (error: LogClosed) => void;
  /** Uses the log although it is closed; only for moving the log. */
  readonly moving?: boolean;
  /** The approximate maximum number of body bytes read at a time; only a single event may exceed it. Default: 16 MB. */
  readonly pageBytes?: number;
  /**
   * The longest wait for a response, including retries, before the server counts as unavailable, in ms. Default: 8,000, so
   * that a request is answered within ten seconds, including its other work.
   */
  readonly answerWithin?: number;
}

/** The defaults. */
export const DEFAULTS = { pageBytes: 16_000_000, answerWithin: 8_000 } as const;
