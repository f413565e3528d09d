/** Decisions: pure functions from a stream's state to the events to append. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Draft } from '#src/events/codec.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** The events to append (empty if there is nothing to do), and the result to return once they are appended. */
export interface Decision<T> {
  readonly drafts: readonly Draft[];
  readonly result: T;
}

/**
 * Decides only which events to append; the result comes from the request.
 * @throws Refusal
 */
export type Decide<S> = (state: S) => readonly PlainEvent[];

/** The times of a decision's events: each is later than the previous event in the stream. */
export interface Clock {
  next(): Micros;
}
