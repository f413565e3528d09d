/**
 * The kernel of the write side: everything that the streams of one process share, a single stream in memory, and the only
 * retry policy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { DomainEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { EventStore, Position, RecordedEvent, StreamHead } from '#src/events/store.ts';
import { requireEventAllowed, type StreamKind } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { unavailable } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';

/** Limits on the events remembered from other processes: total characters, events per stream, and age in ms. */
const MOST_HEARD = 8_000_000;
const MOST_OF_STREAM = 20;
const HEARD_MS = 60_000;

/** Holds the event store, a cache of states, and a queue per stream. */
export class Kernel {
  /** States by fold and stream; the least recently used are evicted first. */
  readonly cache: LRUCache<string, Stream<unknown>>;
  readonly #last = new Map<string, Promise<unknown>>();
  /** Events that other processes on this machine have written, by stream, without gaps in each stream. */
  readonly #heard = new LRUCache<string, readonly RecordedEvent[]>({
    maxSize: MOST_HEARD,
    ttl: HEARD_MS,
    sizeCalculation: (events) =>
      300 + events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0),
  });

  /** @param maxBytes memory that all cached states together may use */
  constructor(
    readonly store: EventStore,
    maxBytes = 32 * 1024 * 1024,
  ) {
    const sizeCalculation = ({ fold, state }: Stream<unknown>) => 300 + fold.estimateSize(state);
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** Remembers events that another process on this machine has written, in the order of their stream. */
  hear(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const before = this.#heard.get(event.stream) ?? [];
      const isNext = before.at(-1)?.revision === event.revision - 1;
      this.#heard.set(event.stream, isNext ? [...before.slice(1 - MOST_OF_STREAM), event] : [event]);
    }
  }

  /** Forgets the events of other processes, because a stream was erased. */
  forgetHeard(): void {
    this.#heard.clear();
  }

  /**
   * Applies to a state the events that this process has heard of from other processes; without them, an append would be
   * refused.
   * @returns false if some of the events aren't known
   * @throws ForeignEvent
   */
  catchUp(stream: Stream<unknown>): boolean {
    const heard = this.#heard.get(stream.name);
    const last = heard?.at(-1);
    if (heard === undefined || last === undefined || last.revision <= stream.revision) return true;
    const next = heard.findIndex(({ revision }) => revision === stream.revision + 1);
    if (next < 0) return false;
    for (const event of heard.slice(next)) stream.take(event);
    return true;
  }

  /** Runs work on a stream after all earlier work on the stream in this process has ended, successfully or not. */
  inTurn<T>(stream: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#last.get(stream) ?? Promise.resolve()).then(work, work);
    this.#last.set(stream, run);
    const leave = () => {
      if (this.#last.get(stream) === run) this.#last.delete(stream);
    };
    run.then(leave, leave);
    return run;
  }
}

/**
 * A pure function from events to the state that decisions need. `default: event satisfies never` makes the compiler check that
 * every kind of event is handled.
 */
export interface Fold<S, E extends DomainEvent = DomainEvent> {
  /** Unique among all folds, because states are cached by fold and stream. */
  readonly name: string;
  /** The kinds of streams that the fold reads. */
  readonly kinds: readonly StreamKind[];
  /** Returns the state of a stream that has no events. */
  initial(stream: string): S;
  /** Applies the stream's next event to the state, with the time at which the event was recorded. */
  evolve(state: S, event: E, revision: number, at: Micros): void;
  /** Returns the approximate number of bytes of memory that a state uses. */
  estimateSize(state: S): number;
}

/** A stream up to the last revision that was read: its state, and the data needed for the next append. */
export class Stream<S> {
  head: StreamHead | undefined;
  /** Position of the last event. */
  position: Position | undefined;
  /** Time of the last event; the next event must be later. */
  recordedAt: Micros = 0;
  /** The tenant that owns the record or directory. */
  owner: Tenant | undefined;
  readonly state: S;

  constructor(
    readonly fold: Fold<S>,
    readonly name: string,
  ) {
    if (!fold.kinds.some((kind) => name.startsWith(`${kind}-`)))
      throw new TypeError(`the fold ${fold.name} does not read ${name}`);
    this.state = fold.initial(name);
  }

  /** Returns the last event's revision; -1 before the first event. */
  get revision(): number {
    return this.head?.revision ?? -1;
  }

  /**
   * Applies the next event.
   * @throws ForeignEvent
   */
  evolve(head: StreamHead, at: Micros, owner: Tenant | undefined, event: DomainEvent): void {
    requireEventAllowed(this.name, event.type);
    this.fold.evolve(this.state, event, head.revision, at);
    this.head = head;
    this.recordedAt = at;
    this.owner ??= owner;
  }

  /**
   * Applies the events that follow, up to `limit`.
   * @returns true if there were any
   * @throws StreamDeleted, ForeignEvent
   */
  async readForward(store: EventStore, limit?: number): Promise<boolean> {
    const from = this.revision + 1;
    for await (const recorded of store.read(this.name, { from, ...(limit !== undefined && { limit }) }))
      this.take(recorded);
    return this.revision >= from;
  }

  /**
   * Applies the next event as the store returned it.
   * @throws ForeignEvent
   */
  take(recorded: RecordedEvent): void {
    const { id, revision, metadata, event } = understand(recorded);
    const { hash, owner, recorded_at } = metadata;
    if (hash === undefined) throw new TypeError(`event ${id} has no hash`);
    this.evolve({ revision, hash }, toMicros(recorded_at), owner, event);
    this.position = recorded.position;
  }
}

/** Thrown if the state from which a command was prepared has since changed; the caller must prepare the command again. */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/** The error message when retries, or waiting in the queue, take too long. */
export const BUSY = 'too many requests are changing this at once; retry in a second';

const TRIES = 10;

/** Number of attempts at a decision that concurrent writes must not hold up; they take about five seconds. */
export const MANY_TRIES = 150;

/**
 * Retries `attempt` after errors of one class, with a random pause from the second retry on.
 * @param attempt receives the error of the previous attempt
 * @param most the maximum number of attempts
 * @throws Refusal unavailable (503) after the last attempt; rethrows any other error at once
 */
export async function retry<T, E extends Error>(
  failure: new (...args: never[]) => E,
  attempt: (before: E | undefined) => Promise<T>,
  most = TRIES,
): Promise<T> {
  let before: E | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(before);
    } catch (error) {
      if (!(error instanceof failure)) throw error;
      if (tries === most) throw unavailable(BUSY);
      if (tries > 1) await delay(Math.random() * 2 ** Math.min(tries, 6));
      before = error;
    }
  }
}
