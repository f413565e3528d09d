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

/** Before the first event: a subscription `after` it receives everything. */
export const BEGINNING = '' as Position;

/** An event as a command hands it over: `data` and `metadata` are exact UTF-8 JSON texts, never re-encoded. */
export interface NewEvent {
  /**
   * UUID, lower case. The same ids at the same expected head are one append, however often it is sent. Writers derive
   * it from a random seed, so that it is unique in the whole log; no store looks beyond the stream for it.
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
  /** As stored, its last member being `"hash":"<64 hex digits>"` (see `chain.ts`). */
  readonly metadata: string;
}

/** The end of a stream as a writer knows it: the next append must continue exactly from here. */
export interface StreamHead {
  readonly revision: number;
  /** The hash of the event at `revision`. */
  readonly hash: string;
}

/** What a writer expects of the stream: its head, or that it has never been written. */
export type Expected = StreamHead | 'none';

/** What an append did. `position` is that of its last event. */
export interface AppendResult {
  readonly head: StreamHead;
  readonly position: Position;
}

/** Which way and how far to read a stream. */
export interface ReadOptions {
  /** First revision to return, inclusive. Default: the first (forwards) or the last (backwards). */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many events. Default: all. */
  readonly limit?: number;
}

/** What a subscription delivers at a time. */
export interface EventBatch {
  /** In order. Never part of an append: a batch ends where an append ends. May be empty. */
  readonly events: readonly RecordedEvent[];
  /** Everything up to here has been delivered or filtered out: safe to resume from. */
  readonly position: Position;
}

/** Where to start, what to keep, and who takes the batches. */
export interface SubscribeOptions {
  /** Who subscribes, for metrics: of a small fixed set. Default: nobody is measured. */
  readonly name?: string;
  readonly after: Position;
  /** Only streams whose name starts with one of these. Default: all. */
  readonly prefixes?: readonly string[];
  /** Upper bound of events a batch, exceeded only to keep an append whole. Default 500. */
  readonly batchSize?: number;
  /** Takes one batch at a time: the next is not handed over before this promise settles (backpressure). */
  readonly handle: (batch: EventBatch) => Promise<void>;
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
   * All events in the total order, from after a position and then live, without losses or repetitions.
   * Cold: it starts when subscribed to and stops when unsubscribed from; emits each position after its batch
   * was handled. It fails with what `handle` threw, or with `Unavailable`; the subscriber decides on retries.
   */
  subscribe(options: SubscribeOptions): Observable<Position>;
  /** The position of the newest event; `BEGINNING` in an empty store. */
  head(): Promise<Position>;
  /** How far the log has ever come, erased events included: never before a position that was handed out. */
  reached(): Promise<Position>;
  /** Removes a stream's events physically; the stream refuses appends and reads for ever. Idempotent. */
  erase(stream: string): Promise<void>;
  /** Whether the store answers now. */
  ping(): Promise<void>;
  /** Waits for what is in flight and lets go of connections. */
  close(): Promise<void>;
}

/** The most bytes that the events of one append may have together (data and metadata), on both stores. */
export const MAX_APPEND_BYTES = 12_000_000;

/** The stream is not where the writer expected it to be. */
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

/** The stream was erased: nothing can be read from it or appended to it again. */
export class StreamDeleted extends Error {
  override readonly name = 'StreamDeleted';
  constructor(readonly stream: string) {
    super(`stream ${stream} was erased`);
  }
}

/** The store cannot be reached or did not answer. An append that failed so may have been written. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}

/** The log has nothing at a position that it was asked to go on from: it is not the one that gave it out. */
export class InvalidPosition extends Error {
  override readonly name = 'InvalidPosition';
  constructor(options?: ErrorOptions) {
    super('the event log has no event at the position to continue from; it is a different log', options);
  }
}

/** The events of one append exceed `MAX_APPEND_BYTES`. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
  constructor(
    readonly bytes: number,
    readonly limit = MAX_APPEND_BYTES,
  ) {
    super(`an append of ${bytes} bytes exceeds ${limit}`);
  }
}
