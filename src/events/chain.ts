/**
 * Computes a stream's hash chain. Each event's metadata ends with the SHA-256 over the previous hash, stream, revision, id,
 * type, data and metadata as stored. If an event is changed, missing or out of order, the chain is broken.
 */
import { hash } from 'node:crypto';
import type { Expected, NewEvent, RecordedEvent, StreamHead } from './store.ts';

/** The hash before a stream's first event. */
export const GENESIS = '0'.repeat(64);

const SUFFIX = /,"hash":"([0-9a-f]{64})"\}$/;

/** An event that is ready to be stored at its revision, with the hash in its metadata. */
export interface SealedEvent extends NewEvent {
  readonly revision: number;
}

/**
 * Returns the chain's next hash. Each field is prefixed with its length, so moving a boundary between fields changes the hash.
 */
function link(previous: string, stream: string, revision: number, event: NewEvent): string {
  let text = previous;
  for (const part of [stream, String(revision), event.id, event.type, event.data, event.metadata]) {
    text += `\n${Buffer.byteLength(part)}\n${part}`;
  }
  return hash('sha256', text);
}

/**
 * Assigns revisions and hashes to events, continuing from `expected`.
 * @returns the events to store, and the stream's head after they are stored.
 */
export function seal(
  stream: string,
  expected: Expected,
  events: readonly NewEvent[],
): { events: SealedEvent[]; head: StreamHead } {
  let head: StreamHead = expected === 'none' ? { revision: -1, hash: GENESIS } : expected;
  const sealed = events.map((event) => {
    const revision = head.revision + 1;
    head = { revision, hash: link(head.hash, stream, revision, event) };
    return { revision, ...event, metadata: `${event.metadata.slice(0, -1)},"hash":"${head.hash}"}` };
  });
  return { events: sealed, head };
}

/** Returns the hash in a stored event's metadata; undefined if there is none. */
export function readHash(event: Pick<RecordedEvent, 'metadata'>): string | undefined {
  return SUFFIX.exec(event.metadata.slice(-76))?.[1];
}

/**
 * Checks that a stored event continues the chain after the hash `previous` (`GENESIS` for revision 0).
 * @returns the event's own hash if the chain is intact, undefined if it is broken.
 */
export function verifyLink(previous: string, event: RecordedEvent): string | undefined {
  const claimed = readHash(event);
  if (claimed === undefined) return undefined;
  const metadata = `${event.metadata.slice(0, -`,"hash":"${claimed}"}`.length)}}`;
  return link(previous, event.stream, event.revision, { ...event, metadata }) === claimed
    ? claimed
    : undefined;
}
