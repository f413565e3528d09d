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

/** A stream name that nobody used, and that a service on the same log has no use for. */
export const newStream = (prefix = 'contract-'): string => `${prefix}${newUuid()}`;

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

/** A running subscription that keeps what it gets, unless it is told to forget it. */
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
    memory: 'keep' | 'forget' = 'keep',
  ) {
    const taken = async (batch: EventBatch): Promise<void> => {
      if (memory === 'keep') this.batches.push(batch);
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

/** A look at a stretch of the total order, event by event, without keeping them. */
export class Audit {
  readonly faults: string[] = [];
  /** The ids met, in order. */
  readonly ids = new Set<string>();
  readonly #streams = new Map<string, { revision: number; hash: string; missing: number }>();
  #position = '';

  /** Looks at the events that follow. */
  take(events: readonly RecordedEvent[]): void {
    for (const event of events) {
      const before = this.#streams.get(event.stream) ?? { revision: -1, hash: GENESIS, missing: 0 };
      const hash = verifyLink(before.hash, event);
      const { index, count } = placeInAppend(event);
      const checks: [fine: boolean, fault: string][] = [
        [event.position > this.#position, `position ${event.position} after ${this.#position}`],
        [!this.ids.has(event.id), 'twice'],
        [event.revision === before.revision + 1, `after revision ${before.revision}`],
        [hash !== undefined, 'broken chain'],
        [before.missing > 0 ? count - index === before.missing : index === 0, 'torn append'],
      ];
      for (const [fine, fault] of checks) {
        if (!fine) this.faults.push(`${event.stream}@${event.revision}: ${fault}`);
      }
      this.#position = event.position;
      this.ids.add(event.id);
      this.#streams.set(event.stream, {
        revision: event.revision,
        hash: hash ?? '',
        missing: count - index - 1,
      });
    }
  }

  /** Everything that is wrong, appends that never ended included. */
  end(): string[] {
    const torn = [...this.#streams].filter(([, { missing }]) => missing > 0);
    return [...this.faults, ...torn.map(([stream]) => `${stream}: ends inside an append`)];
  }
}

/** Audits the log from after a position to its present head. */
export async function auditLog(store: EventStore, after: Position): Promise<Audit> {
  const audit = new Audit();
  const follower = new Follower(store, { after }, async ({ events }) => audit.take(events), 'forget');
  const head = await store.head();
  if (head !== BEGINNING) await follower.reaches(head);
  follower.stop();
  return audit;
}

/** What is wrong with a stretch of the total order. Empty when all is well. */
export function faultsIn(events: readonly RecordedEvent[]): string[] {
  const audit = new Audit();
  audit.take(events);
  return audit.end();
}
