/**
 * Brings several shadows up to date while reading the log once: a batch is read and decoded once, and written to each shadow
 * on the shadow's own session. While one batch is written, the next is read.
 */
import type { EventBatch, EventStore, Position } from '#src/events/store.ts';
import { type Pace, paced } from '../pace.ts';
import { replay } from '../replay.ts';
import { inTransaction } from '../session.ts';
import type { Shadow } from './shadow.ts';

/** A shadow and its target position, which is the end of an append. */
export interface Destination {
  readonly shadow: Shadow;
  readonly until: Position;
}

export interface TogetherOptions {
  readonly pace: Pace;
  readonly signal?: AbortSignal | undefined;
  /** Called after each of a projection's batches, with the number of new events. */
  readonly loaded?: (projection: string, events: number, position: Position) => void;
}

/**
 * Loads each shadow up to its target, from its own position.
 * @returns true if all reached their targets; false if `signal` aborted first
 * @throws CannotApply, Unavailable, database errors; rows written so far are kept
 */
export async function loadTogether(
  store: Pick<EventStore, 'subscribe' | 'head'>,
  destinations: readonly Destination[],
  { pace, signal, loaded = () => undefined }: TogetherOptions,
): Promise<boolean> {
  const members = await Promise.all(
    destinations.map(async (to) => new Member(to, await to.shadow.position(), loaded)),
  );
  const handle = (batch: EventBatch): Promise<unknown> =>
    pace.together
      ? Promise.all(members.map((member) => member.queue(batch)))
      : paced(
          pace,
          async () => {
            for (const member of members) await member.take(batch);
          },
          signal,
        );
  let reached: boolean;
  try {
    reached = await replay({
      store,
      after: least(members.map(({ at }) => at)),
      until: greatest(members.map(({ until }) => until)),
      prefixes: [...new Set(members.flatMap(({ shadow }) => shadow.projection.prefixes))],
      batchSize: pace.batchSize,
      signal,
      handle: async (batch) => void (await handle(batch)),
    });
  } finally {
    // A failed shadow must not leave another one's session in use.
    await Promise.allSettled(members.map((member) => member.idle()));
  }
  await Promise.all(members.map((member) => member.idle()));
  return reached;
}

/** One shadow's share of the work. */
class Member {
  readonly shadow: Shadow;
  readonly until: Position;
  #working: Promise<void> = Promise.resolve();

  constructor(
    { shadow, until }: Destination,
    public at: Position,
    private readonly loaded: NonNullable<TogetherOptions['loaded']>,
  ) {
    this.shadow = shadow;
    this.until = until;
  }

  /** Takes a batch once the previous batch has been written. Resolves when there is room for the next batch. */
  queue(batch: EventBatch): Promise<void> {
    const before = this.#working;
    this.#working = before.then(() => this.take(batch));
    // This promise is awaited when the next batch arrives; until then, a failure must not count as unhandled.
    this.#working.catch(() => undefined);
    return before;
  }

  /** Resolves when everything in the queue has been written. */
  idle(): Promise<void> {
    return this.#working;
  }

  /** Writes those events that are new to the shadow, in one transaction. */
  async take({ events, position }: EventBatch): Promise<void> {
    const { shadow, at, until } = this;
    const to = least([position, until]);
    if (to <= at) return;
    const own = events.filter((event) => event.position > at && event.position <= to && this.#wants(event));
    await inTransaction(shadow.session, () => shadow.apply({ events: own, position: to }));
    this.at = to;
    this.loaded(shadow.projection.name, own.length, to);
  }

  #wants({ stream }: { readonly stream: string }): boolean {
    return this.shadow.projection.prefixes.some((prefix) => stream.startsWith(prefix));
  }
}

const least = (positions: readonly Position[]): Position => positions.reduce((a, b) => (b < a ? b : a));
const greatest = (positions: readonly Position[]): Position => positions.reduce((a, b) => (b > a ? b : a));
