/**
 * Caches the heads of streams as the server returned them. The server compares only revisions, but the chain needs the hash
 * too.
 */
import { LRUCache } from 'lru-cache';
import { readHash } from '../chain.ts';
import type { RecordedEvent, StreamHead } from '../store.ts';

/** The number of streams whose head is cached. */
const STREAMS = 20_000;

/**
 * Caches the heads of streams. Hashes come from events that were read or received, never from events that were sent. The
 * reason: if an append has ids that the server already has, the server confirms it as if it had written it, even if the stored
 * event has a different body.
 */
export class Heads {
  readonly #heads = new LRUCache<string, StreamHead>({ max: STREAMS });

  /** Takes note of an event that came from the server. */
  see(event: RecordedEvent): void {
    const { stream, revision } = event;
    const seen = this.#heads.peek(stream);
    if (seen !== undefined && (seen.revision > revision || (seen.revision === revision && seen.hash !== '')))
      return;
    this.#heads.set(stream, { revision, hash: readHash(event) ?? '' });
  }

  /** Takes note that a stream has reached a revision; the hash isn't known until the event arrives. */
  passed(stream: string, revision: number): void {
    if ((this.#heads.peek(stream)?.revision ?? -1) < revision)
      this.#heads.set(stream, { revision, hash: '' });
  }

  /** Returns true if the newest event received from a stream has this head. */
  knows(stream: string, { revision, hash }: StreamHead): boolean {
    const seen = this.#heads.get(stream);
    return seen?.revision === revision && seen.hash === hash;
  }
}
