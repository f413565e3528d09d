/** Decisions: pure functions from a stream's state to the events that they append. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Draft } from '#src/events/codec.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** The events to append (none: nothing to do), and the answer if they are appended. */
export interface Decision<T> {
  readonly drafts: readonly Draft[];
  readonly result: T;
}

/** Decides only on events: the answer comes from the request. @throws Refusal */
export type Decide<S> = (state: S) => readonly PlainEvent[];

/** Times of a decision's events: each is later than the one before it in the stream. */
export interface Clock {
  next(): Micros;
}
