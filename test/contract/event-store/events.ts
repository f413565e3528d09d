/** Events to append, and eyes on what comes back. */
import type { Subscription } from 'rxjs';
import { placeInAppend } from '#src/events/batches.ts';
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import {
  type AppendResult,
  BEGINNING,
  type EventBatch,
  type EventStore,
  type Expected,
  type NewEvent,
  type Position,
  type RecordedEvent,
  type SubscribeOptions,
} from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';

/** A stream name that nobody used. */
export const newStream = (prefix = 'record-'): string => `${prefix}${newUuid()}`;

/** The events of one append. */
export function newEvents(
  count = 1,
  data: (index: number) => string = (index) => `{"n":${index}}`,
): NewEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    id: newUuid(),
    type: 'ResourceCreated',
    data: data(index),
    metadata: `{"schema_version":1,"append":[${index},${count}]}`,
  }));
}

/** Appends `counts` appends of that many events each, one after the other. */
export async function write(
  store: EventStore,
  stream: string,
  counts: readonly number[],
  expected: Expected = 'none',
): Promise<AppendResult> {
  let result: AppendResult | undefined;
  for (const count of counts) result = await store.append(stream, result?.head ?? expected, newEvents(count));
  if (result === undefined) throw new Error('nothing to write');
  return result;
}

/** Everything that an iteration yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** A running subscription that keeps what it gets. */
export class Follower {
  readonly batches: EventBatch[] = [];
  readonly positions: Position[] = [];
  /** Why it ended by itself: an error, or `completed`. */
  end: unknown;
  readonly #subscription: Subscription;
  #waiting: (() => void)[] = [];

  constructor(
    store: EventStore,
    options: Partial<SubscribeOptions> & Pick<SubscribeOptions, 'after'>,
    handle: (batch: EventBatch) => Promise<void> = async () => undefined,
  ) {
    const taken = async (batch: EventBatch): Promise<void> => {
      this.batches.push(batch);
      this.#changed();
      await handle(batch);
    };
    const finish = (end: unknown): void => {
      this.end = end;
      this.#changed();
    };
    this.#subscription = store.subscribe({ handle: taken, ...options }).subscribe({
      next: (position) => {
        this.positions.push(position);
        this.#changed();
      },
      error: finish,
      complete: () => finish('completed'),
    });
  }

  /** Everything received so far. */
  get events(): RecordedEvent[] {
    return this.batches.flatMap((batch) => batch.events);
  }

  /** What its handler was done with when it last heard of a position. */
  get handled(): RecordedEvent[] {
    const reached = this.position ?? '';
    return this.batches.filter(({ position }) => position <= reached).flatMap(({ events }) => events);
  }

  /** How far it got. */
  get position(): Position | undefined {
    return this.positions.at(-1);
  }

  /** Waits until a condition on this follower holds. @throws what the subscription ended with before. */
  async until(condition: (follower: this) => boolean): Promise<this> {
    while (!condition(this)) {
      if (this.end !== undefined) throw this.end;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this;
  }

  /** Waits until it has handled everything up to a position. */
  reaches(position: Position): Promise<this> {
    return this.until(({ position: reached }) => reached !== undefined && reached >= position);
  }

  /** Unsubscribes. */
  stop(): void {
    this.#subscription.unsubscribe();
  }

  #changed(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

/** Everything in the log now, by a subscription from its beginning. */
export async function everything(
  store: EventStore,
  options: Pick<SubscribeOptions, 'after' | 'prefixes'>,
): Promise<RecordedEvent[]> {
  const follower = new Follower(store, options);
  const head = await store.head();
  if (head !== BEGINNING) await follower.reaches(head);
  follower.stop();
  return follower.events;
}

/**
 * What is wrong with a sequence of events from the total order: positions that do not rise, revisions that do not
 * follow, broken hash chains, appends that are not whole. Empty when all is well.
 */
export function faultsIn(events: readonly RecordedEvent[]): string[] {
  const faults: string[] = [];
  const streams = new Map<string, { revision: number; hash: string; missing: number }>();
  let position = '';
  for (const event of events) {
    const before = streams.get(event.stream) ?? { revision: -1, hash: GENESIS, missing: 0 };
    const where = `${event.stream}@${event.revision}`;
    if (event.position <= position) faults.push(`${where}: position ${event.position} after ${position}`);
    position = event.position;
    if (event.revision !== before.revision + 1) faults.push(`${where}: after ${before.revision}`);
    const hash = verifyLink(before.hash, event);
    if (hash === undefined) faults.push(`${where}: broken chain`);
    const { index, count } = placeInAppend(event);
    if (before.missing > 0 ? count - index !== before.missing : index !== 0)
      faults.push(`${where}: torn append`);
    streams.set(event.stream, { revision: event.revision, hash: hash ?? '', missing: count - index - 1 });
  }
  for (const [stream, { missing }] of streams)
    if (missing > 0) faults.push(`${stream}: ends inside an append`);
  return faults;
}
