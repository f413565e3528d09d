/** The options for opening an EventStoreDB. */
import type { LogClosed } from '../closed.ts';
import type { WrittenBatch } from '../store.ts';

/** Options for `EventStoreDbStore.open`. */
export interface EventStoreDbOptions {
  /**
   * `esdb://user:password@host:2113?tls=true`; with several hosts as gossip seeds; `esdb+discover://` for the DNS name of a
   * cluster. `kurrentdb:` is the same as `esdb:`.
   */
  readonly url: string;
  /** Logs lost connections; may be a pino logger. */
  readonly log?: { warn(details: object, message: string): void };
  /** Called with the number of appends in each acknowledged batch; in this adapter, the number is always one. */
  readonly onBatch?: (appends: number) => void;
  /**
   * Called with each append that the subscription receives, regardless of which process wrote it. If set, this process follows
   * the log even without subscribers.
   */
  readonly onHeard?: ((batch: WrittenBatch) => void) | undefined;
  /** Called when the subscription that follows the log begins or resumes, and each time it fails. */
  readonly onFollowing?: (follows: boolean) => void;
  /** Called once if this process finds that the log it uses has been closed. Nothing more can then be written to the log. */
  readonly onClosed?: (error: LogClosed) => void;
  /** Uses the log even if it is closed; only for moving the log. */
  readonly moving?: boolean;
  /** The approximate maximum number of body bytes read at a time; only a single event may exceed it. Default: 16 MB. */
  readonly pageBytes?: number;
  /**
   * The longest wait for a response, including retries, before the server is considered unavailable, in ms. Default: 8,000, so
   * that a request is answered within ten seconds, including its other work.
   */
  readonly answerWithin?: number;
}

/** The defaults. */
export const DEFAULTS = { pageBytes: 16_000_000, answerWithin: 8_000 } as const;
