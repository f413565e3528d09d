/**
 * The event store port. Two adapters keep its promises (the embedded PostgreSQL log and EventStoreDB), and
 * one contract suite (`test/contract/`) holds both to them.
 */
import type { Observable } from 'rxjs';

/**
 * A place in the total order of one store. Opaque: comparable with `<` as text, storable, and meaningless
 * in any other store.
 */
export type Position = string & { readonly __position: never };

/** The position before the first event: a subscription `after` it receives everything. */
export const BEGINNING = '' as Position;

/** An event as a command hands it over: `data` and `metadata` are exact UTF-8 JSON texts, never re-encoded. */
export interface NewEvent {
  /**
   * UUID, lower case. An append with the same ids at the same expected head is the same append, however often
   * it is sent. Writers derive the id from a random seed, so that it is unique in the whole log; stores check
   * it only within the stream.
   */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  /** A JSON object without `hash`: the chain adds that as its last member. */
  readonly metadata: string;
}

/** An event as the store holds it. */
export interface RecordedEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  /** 0 for the first event of a stream; no gaps. */
  readonly revision: number;
  readonly position: Position;
  readonly data: string;
  /** As stored; its last member is `"hash":"<64 hex digits>"` (see `chain.ts`). */
  readonly metadata: string;
}

/** The end of a stream as a writer knows it: the next append must continue exactly from here. */
export interface StreamHead {
  readonly revision: number;
  /** The hash of the event at `revision`. */
  readonly hash: string;
}

/** The state that a writer expects of the stream: its head, or that it has never been written. */
export type Expected = StreamHead | 'none';

/** The result of an append. `position` is that of its last event. */
export interface AppendResult {
  readonly head: StreamHead;
  readonly position: Position;
}

/** The direction and the range of a read. */
export interface ReadOptions {
  /** First revision to return, inclusive. Default: the first (forwards) or the last (backwards). */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** The maximum number of events. Default: all. */
  readonly limit?: number;
}

/** The events that a subscription delivers at a time. */
export interface EventBatch {
  /** In order. An append is never split: a batch ends where an append ends. May be empty. */
  readonly events: readonly RecordedEvent[];
  /** All events up to this position have been delivered or filtered out, so it is safe to resume from. */
  readonly position: Position;
}

/** Where a subscription starts, which events it keeps, and the handler of its batches. */
export interface SubscribeOptions {
  /** The subscriber's name in metrics, from a small fixed set. Default: no metrics. */
  readonly name?: string;
  readonly after: Position;
  /** Delivers only streams whose names start with one of these. Default: all. */
  readonly prefixes?: readonly string[];
  /** The maximum number of events per batch, exceeded only to keep an append whole. Default 500. */
  readonly batchSize?: number;
  /** Takes one batch at a time: the next is not handed over before this promise settles (backpressure). */
  readonly handle: (batch: EventBatch) => Promise<void>;
}

/** A batch with its position: no events lie between `previous` and its first event. */
export interface WrittenBatch {
  readonly previous: Position;
  readonly events: readonly RecordedEvent[];
  /** The position of its last event. */
  readonly position: Position;
}

/** The port. Every method may reject with `Unavailable`. */
export interface EventStore {
  /**
   * Appends all events or none, at exactly `expected`, durably. Sending the same ids again at the same
   * `expected` returns the first result, also after later appends.
   * @throws Conflict when the stream is elsewhere, StreamDeleted after `erase`, TooLarge over 12 MB.
   */
  append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult>;
  /** A stream's events in order of revision; none when it was never written. @throws StreamDeleted */
  read(stream: string, options?: ReadOptions): AsyncIterable<RecordedEvent>;
  /**
   * Delivers all events in the total order, from after a position and then live, without losses or
   * duplicates. Cold: it starts when subscribed to and stops when unsubscribed from; it emits each position
   * after its batch was handled. It fails with the errors of `handle`, or with `Unavailable`; the subscriber
   * decides on retries.
   */
  subscribe(options: SubscribeOptions): Observable<Position>;
  /** Takes a batch that another process of this machine has written, where that saves reading it. */
  receive?(batch: WrittenBatch): void;
  /** The position of the newest event; `BEGINNING` in an empty store. */
  head(): Promise<Position>;
  /**
   * Returns the highest position that the log ever had, erased events included: never before a position that
   * was returned earlier.
   */
  reached(): Promise<Position>;
  /** Removes a stream's events physically; the stream refuses appends and reads for ever. Idempotent. */
  erase(stream: string): Promise<void>;
  /** Checks that the store answers. */
  ping(): Promise<void>;
  /** Waits for work in flight and closes the connections. */
  close(): Promise<void>;
}

/** The most bytes that the events of one append may have together (data and metadata), on both stores. */
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

/** Thrown for an erased stream: its events can't be read, and it accepts no others. */
export class StreamDeleted extends Error {
  override readonly name = 'StreamDeleted';
  constructor(readonly stream: string) {
    super(`stream ${stream} was erased`);
  }
}

/**
 * Thrown when the store can't be reached or didn't answer. An append that failed with it may have been
 * written.
 */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/**
 * Thrown when the log has no event at a position that a reader wants to resume from: the position comes from
 * another log.
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
