/** Determines the result of an append that wasn't written: it had been written before, or there is a reason why it can't be. */

import type { Append } from './append.ts';
import { type AppendResult, Conflict, type Position, StreamDeleted } from './store.ts';

/** The head that the log has instead of the expected one. */
export interface Mismatch {
  readonly append: Append;
  readonly actual: number | 'none';
  readonly erased: boolean;
}

/** An event without its bodies. */
export interface Identity {
  readonly revision: number;
  readonly id: string;
  readonly position: Position;
  readonly hash: string;
}

/** Reads events in a stream without their bodies, from revision `from` to `to`. */
export interface Identities {
  identities(stream: string, from: number, to: number): Promise<Identity[]>;
}

/**
 * Returns the first result if the same ids directly follow the expected head; this needs no index on ids.
 * @throws StreamDeleted, Conflict
 */
export async function answerRefused(
  reader: Identities,
  { append, actual, erased }: Mismatch,
): Promise<AppendResult> {
  const { stream, expected, base, events } = append;
  if (erased) throw new StreamDeleted(stream);
  const conflict = new Conflict(stream, expected === 'none' ? 'none' : expected.revision, actual);
  // The stream is too short to contain them all, so there is nothing to compare.
  if (actual === 'none' || actual < base.revision + events.length) throw conflict;

  const present = await reader.identities(stream, base.revision, base.revision + events.length);
  const before = expected === 'none' ? undefined : present.shift();
  const last = present.at(-1);
  const continues = expected === 'none' || before?.hash === expected.hash;
  const same = present.length === events.length && present.every(({ id }, index) => id === events[index]?.id);
  if (last === undefined || !continues || !same) throw conflict;
  return { head: { revision: last.revision, hash: last.hash }, position: last.position };
}
