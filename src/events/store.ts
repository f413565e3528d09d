/**
 * Defines the event store port. Two adapters implement it (the embedded PostgreSQL log and EventStoreDB), and one contract
 * suite (`test/contract/`) verifies both.
 */
import type { Observable } from 'rxjs';

/**
 * A place in the total order of one store. Opaque: it can be stored and compared as text with `<`, but is meaningless in any
 * other store.
 */
export type Position = string & { readonly __position: never };

/** The position before the first event. A subscription that starts after it receives everything. */
export const BEGINNING = '' as Position;

/** An event as a command passes it to the store: `data` and `metadata` are exact UTF-8 JSON text, never re-encoded. */
export interface NewEvent {
  /**
   * UUID, lower case. An append that is sent again with the same ids at the same expected head is the same append. Writers
   * derive the id from a random seed, so that it is unique in the whole log; stores check uniqueness only within the stream.
   */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  /** A JSON object without `hash`, which the chain adds as its last member. */
  readonly metadata: string;
}

/** An event as stored. */
export interface RecordedEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  /** 0 for a stream's first event; revisions have no gaps. */
  readonly revision: number;
  readonly position: Position;
  readonly data: string;
  /** As stored; its last member is `"hash":"<64 hex digits>"` (see `chain.ts`). */
  readonly metadata: string;
}

/** The end of a stream as the writer knows it; the next append must continue from exactly there. */
export interface StreamHead {
  readonly revision: number;
  /** The hash of the event at `revision`. */
  readonly hash: string;
}

/** The state of the stream that a writer expects: its head, or `none` if it must never have been written to. */
export type Expected = StreamHead | 'none';

/** The result of an append. `position` is the position of its last event. */
export interface AppendResult {
  readonly head: StreamHead;
  readonly position: Position;
}

/** The direction and range of a read. */
export interface ReadOptions {
  /** The first revision to return, inclusive. Default: the stream's first revision (forwards) or last revision (backwards). */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** The maximum number of events. Default: all. */
  readonly limit?: number;
}

/** The events that a subscription delivers together. */
export interface EventBatch {
  /** The events, in order; may be empty. An append is never split: a batch ends at the end of an append. */
  readonly events: readonly RecordedEvent[];
  /** All events up to this position have been delivered or filtered out, so it is safe to resume from this position. */
  readonly position: Position;
}

/** Where a subscription starts, which events it delivers, and the handler for its batches. */
export interface SubscribeOptions {
  /** The subscriber's name in metrics, which comes from a small fixed set. Default: no metrics. */
  readonly name?: string;
  readonly after: Position;
  /** Delivers only the events in streams whose names start with one of these. Default: all streams. */
  readonly prefixes?: readonly string[];
  /** The maximum number of events per batch; exceeded only to keep an append whole. Default: 500. */
  readonly batchSize?: number;
  /** Handles one batch at a time; the next batch isn't delivered until this promise settles (backpressure). */
  readonly handle: (batch: EventBatch) => Promise<void>;
}

/** A batch with its position. There are no events between `previous` and the batch's first event. */
export interface WrittenBatch {
  readonly previous: Position;
  readonly events: readonly RecordedEvent[];
  /** The last event's position. */
  readonly position: Position;
}

/** The port. Every method may reject with `Unavailable`. */
export interface EventStore {
  /**
   * Appends all events or none, durably, exactly at `expected`. Resending the same ids at the same `expected` returns the
   * first result, even after later appends.
   * @throws Conflict if the stream has a different head, StreamDeleted after `erase`, TooLarge above 12 MB.
   */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult>;
  /**
   * Yields a stream's events in order of revision; yields none if the stream was never written to.
   * @throws StreamDeleted
   */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /**
   * Delivers all events in the total order, starting after a position and continuing live, without losses or duplicates. Cold:
   * it starts when subscribed to and stops when unsubscribed from. It emits each position after the batch up to that position
   * was handled. It fails with errors from `handle`, or with `Unavailable`; the subscriber decides whether to retry.
   */
  subscribe(options: SubscribeOptions): Observable<Position>;
  /** Accepts a batch written by another process on this machine, if this saves reading it. */
  receive?(batch: WrittenBatch): void;
  /** Returns the newest event's position; `BEGINNING` in an empty store. */
  head(): Promise<Position>;
  /**
   * Returns the highest position that the log has ever had, including erased events. It is never before a position that was
   * returned earlier.
   */
  reached(): Promise<Position>;
  /** Physically removes a stream's events. From then on, the stream refuses appends and reads. Idempotent. */
  erase(stream: string): Promise<void>;
  /** Checks that the store responds. */
  ping(): Promise<void>;
  /** Waits for work in progress and closes the connections. */
  close(): Promise<void>;
}

/** The maximum total size of one append's events (data and metadata) in bytes, for both stores. */
export const MAX_APPEND_BYTES = 12_000_000;

/** Thrown when the stream doesn't have the head that the writer expected. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
  constructor(
    readonly stream: string,
    readonly expected: number | 'none',
    readonly actual: number | 'none',
  ) {
    super(`stream ${stream} is at ${actual}, expected ${expected}`);
  }
}

/** Thrown for an erased stream, whose events can't be read and which accepts no new ones. */
export class StreamDeleted extends Error {
  override readonly name = 'StreamDeleted';
  constructor(readonly stream: string) {
    super(`stream ${stream} was erased`);
  }
}

/**
 * Thrown when the store can't be reached or didn't respond. An append that failed with this error may still have been written.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/**
 * Thrown when a reader wants to resume from a position at which the log has no event, because the position comes from a
 * different log.
 */
export class InvalidPosition extends Error {
  override readonly name = 'InvalidPosition';
  constructor(options?: ErrorOptions) {
    super('the event log has no event at the position to continue from; it is a different log', options);
  }
}

/** Thrown when the events of one append exceed `MAX_APPEND_BYTES`. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  constructor(
    readonly bytes: number,
    readonly limit = MAX_APPEND_BYTES,
  ) {
    super(`an append of ${bytes} bytes exceeds ${limit}`);
  }
}
