/** What decisions are made of: pure functions from a stream's state to the events that they append. */
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import type { Micros } from '#src/shared/time.ts';

/** An event as a decision drafts it. */
export interface Draft {
  /** The event's id, derived from the command's seed. */
  readonly id: string;
  /** From `Clock.next`: bodies contain it, so a decision asks for it before it prints them. */
  readonly at: Micros;
  readonly event: DomainEvent;
}

/** The events to append (none: nothing to do), and the answer if they are appended. */
export interface Decision<T> {
  readonly drafts: readonly Draft[];
  readonly result: T;
}

/** Decides on events alone: what is answered comes from the request. @throws Refusal */
export type Decide<S> = (state: S) => readonly PlainEvent[];

/** Times of a decision's events: each is later than the one before it in the stream. */
export interface Clock {
  next(): Micros;
}

/** What a command was prepared from has changed since: it must be prepared again. */
export class Stale extends Error {
  override readonly name = 'Stale';
}
