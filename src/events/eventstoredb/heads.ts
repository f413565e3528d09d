/** Heads of streams as the server delivered them. The server compares revisions only; the chain needs the hash, too. */
import { LRUCache } from 'lru-cache';
import { readHash } from '../chain.ts';
import type { RecordedEvent, StreamHead } from '../store.ts';

/** Streams whose head is remembered. */
const STREAMS = 20_000;

/**
 * Remembers the heads of streams. Hashes come from events that were read or received, never from those that
 * were sent: the server confirms an append whose ids it already has as if it wrote it, even if the stored
 * event has another body.
 */
export class Heads {
  readonly #heads = new LRUCache<string, StreamHead>({ max: STREAMS });

  /** Notes an event that came from the server. */
  see(event: RecordedEvent): void {
    const { stream, revision } = event;
    const seen = this.#heads.peek(stream);
    if (seen !== undefined && (seen.revision > revision || (seen.revision === revision && seen.hash !== '')))
      return;
    this.#heads.set(stream, { revision, hash: readHash(event) ?? '' });
  }

  /** Records that a stream has reached a revision; its hash is unknown until the event arrives. */
  passed(stream: string, revision: number): void {
    if ((this.#heads.peek(stream)?.revision ?? -1) < revision)
      this.#heads.set(stream, { revision, hash: '' });
  }

  /** Returns true if the newest event that was seen of a stream has this head. */
  knows(stream: string, { revision, hash }: StreamHead): boolean {
    const seen = this.#heads.get(stream);
    return seen?.revision === revision && seen.hash === hash;
  }
}
