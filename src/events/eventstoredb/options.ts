/** The options of opening an EventStoreDB. */
import type { LogClosed } from '../closed.ts';
import type { WrittenBatch } from '../store.ts';

/** Options of `EventStoreDbStore.open`. */
export interface EventStoreDbOptions {
  /**
   * `esdb://user:password@host:2113?tls=true`, several hosts for gossip seeds, `esdb+discover://` for a DNS name of a
   * cluster. `kurrentdb:` means the same.
   */
  readonly url: string;
  /** Logs lost connections; a pino logger fits. */
  readonly log?: { warn(details: object, message: string): void };
  /** Called with the number of appends of each acknowledged batch: here always one. */
  readonly onBatch?: (appends: number) => void;
  /**
   * Called with each append that the subscription brings, whichever process wrote it. If it is set, this process follows the
   * log without subscribers, too.
   */
  readonly onHeard?: ((batch: WrittenBatch) => void) | undefined;
  /** Called when the subscription that follows the log begins or resumes, and each time it fails. */
  readonly onFollowing?: (follows: boolean) => void;
  /** Called once if the log turns out to be closed while this process runs on it: nothing more can be written to it. */
  readonly onClosed?: (error: LogClosed) => void;
  /** Uses the log although it is closed: only for the mover. */
  readonly moving?: boolean;
  /** The approximate maximum of bytes of bodies read at a time; only one event may exceed it. Default 16 MB. */
  readonly pageBytes?: number;
  /**
   * The longest wait for an answer before the server counts as unavailable, in ms, retries included. Default
   * 8,000: with its other work, a request is then answered within ten seconds.
   */
  readonly answerWithin?: number;
}

/** The defaults. */
export const DEFAULTS = { pageBytes: 16_000_000, answerWithin: 8_000 } as const;
