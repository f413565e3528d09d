/** What all streams of one process share. */
import { LRUCache } from 'lru-cache';
import type { EventStore } from '#src/events/store.ts';
import type { Stream } from './stream.ts';

/** Holds the event store, a cache of states, and a queue per stream. */
export class Kernel {
  /** States by fold and stream; the least recently used are evicted first. */
  readonly cache: LRUCache<string, Stream<unknown>>;
  readonly #last = new Map<string, Promise<unknown>>();

  /** @param maxBytes memory that cached states may take together. */
  constructor(
    readonly store: EventStore,
    maxBytes = 32 * 1024 * 1024,
  ) {
    const sizeCalculation = ({ fold, state }: Stream<unknown>) => 300 + fold.sizeOf(state);
    this.cache = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** Does work on a stream when all earlier work on it in this process has ended, successfully or not. */
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
