/**
 * Determines the result of an append that wasn't written: either it had already been written, or there is a reason why it
 * can't be written.
 */

import type { Append } from './append.ts';
import { type AppendResult, Conflict, type Position, StreamDeleted } from './store.ts';

/** The actual head of a stream, if it isn't the expected one. */
export interface Mismatch {
  readonly append: Append;
  readonly actual: number | 'none';
  readonly erased: boolean;
}

/** An event without its data and metadata. */
export interface Identity {
  readonly revision: number;
  readonly id: string;
  readonly position: Position;
  readonly hash: string;
}

/** Reads the events in a stream from revision `from` to `to`, without their data and metadata. */
export interface Identities {
  identities(stream: string, from: number, to: number): Promise<Identity[]>;
}

/**
 * Returns the result of the first attempt, if events with the same ids directly follow the expected head. This needs no index
 * on ids.
 * @throws StreamDeleted, Conflict
 */
export async function answerRefused(
  reader: Identities,
  { append, actual, erased }: Mismatch,
): Promise<AppendResult> {
  const { stream, expected, base, events } = append;
  if (erased) throw new StreamDeleted(stream);
  const conflict = new Conflict(stream, expected === 'none' ? 'none' : expected.revision, actual);
  // The stream is too short to contain all of the events, so there is nothing to compare.
  if (actual === 'none' || actual < base.revision + events.length) throw conflict;

  const present = await reader.identities(stream, base.revision, base.revision + events.length);
  const before = expected === 'none' ? undefined : present.shift();
  const last = present.at(-1);
  const continues = expected === 'none' || before?.hash === expected.hash;
  const same = present.length === events.length && present.every(({ id }, index) => id === events[index]?.id);
  if (last === undefined || !continues || !same) throw conflict;
  return { head: { revision: last.revision, hash: last.hash }, position: last.position };
}
