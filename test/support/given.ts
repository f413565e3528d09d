/**
 * Tests deciders in the form given · when · then: the previous events, a decision, and the events that it appends or its
 * refusal.
 */
import { expect } from 'chai';
import type { Clock, Decision } from '#commands/kernel/decision.ts';
import { type Fold, Stale, Stream } from '#commands/kernel/kernel.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import type { Draft } from '#src/events/codec.ts';
import { Refusal, type RefusalKind } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';

/**
 * Time of the first given event, in microseconds; each later event adds one microsecond. Decisions are also made at this time.
 */
export const BEGINNING: Micros = 1_700_000_000_000_000;

/** A decision that returns either only events, or drafts with a result. */
type Decider<S, T> = (state: S, clock: Clock) => readonly DomainEvent[] | Decision<T>;

/** The outcome of a decision. */
export class Outcome<T> {
  constructor(
    private readonly refused: unknown,
    private readonly drafted: readonly Draft[],
    private readonly answer: T | undefined,
  ) {}

  /** Expects exactly these events. */
  thenEvents(...events: DomainEvent[]): this {
    if (this.refused !== undefined) throw this.refused;
    expect(this.drafts.map(({ event }) => event)).to.deep.equal(events);
    return this;
  }

  /** Expects no events and no refusal. */
  thenNothing(): this {
    return this.thenEvents();
  }

  /** Expects a refusal whose first issue contains these words. */
  thenRefused(kind: RefusalKind, words: RegExp = /./): Refusal {
    if (!(this.refused instanceof Refusal)) throw this.refused ?? new Error('it was not refused');
    expect(this.refused.kind).to.equal(kind);
    expect(this.refused.message).to.match(words);
    return this.refused;
  }

  /** Expects that the prepared data is outdated and must be prepared again. */
  thenStale(): void {
    expect(this.refused).to.be.instanceOf(Stale);
  }

  /** Expects an error caused by the calling code, not by a request. */
  thenFault(words: RegExp): void {
    expect(this.refused).to.be.instanceOf(TypeError).with.property('message').that.matches(words);
  }

  get drafts(): readonly Draft[] {
    if (this.refused !== undefined) throw this.refused;
    return this.drafted;
  }

  get result(): T {
    if (this.answer === undefined) throw this.refused ?? new Error('the decision has no result');
    return this.answer;
  }
}

/**
 * Returns the state of a stream after the given events.
 * @param stream by default, any stream that the fold reads
 */
export function given<S>(fold: Fold<S>, events: readonly DomainEvent[], stream = `${fold.kinds[0]}-1`) {
  const past = new Stream(fold, stream);
  const hash = 'f'.repeat(64);
  events.forEach((event, revision) => {
    past.evolve({ revision, hash }, BEGINNING + revision, undefined, event);
  });
  return {
    state: past.state,
    when<T>(decide: Decider<S, T>): Outcome<T> {
      let last = past.recordedAt;
      const clock: Clock = {
        next() {
          last = Math.max(BEGINNING, last + 1);
          return last;
        },
      };
      try {
        const decided = decide(past.state, clock);
        if ('drafts' in decided) return new Outcome<T>(undefined, decided.drafts, decided.result);
        const drafts = decided.map((event) => ({ id: '', at: clock.next(), event }));
        return new Outcome<T>(undefined, drafts, undefined);
      } catch (error) {
        return new Outcome<T>(error, [], undefined);
      }
    },
  };
}
