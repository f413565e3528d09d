/** Helpers that make events to append and check the events that come back. */
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

/** Returns an unused stream name, of a kind that is never used by a service on the same log. */
export const newStream = (prefix = 'contract-'): string => `${prefix}${newUuid()}`;

/** Makes the events of one append. */
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

/** Makes appends one after another, each with the number of events given in `counts`. */
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

/** Returns everything that an iteration yields. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Returns what a promise rejects with. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`expected a rejection, got ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

/** A running subscription that keeps the batches that it receives, unless it is told to forget them. */
export class Follower {
  readonly batches: EventBatch[] = [];
  readonly positions: Position[] = [];
  /** Why the subscription ended by itself: an error, or `completed`. */
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

  /** The events that the follower's handler had finished when it last reported a position. */
  get handled(): RecordedEvent[] {
    const reached = this.position ?? '';
    return this.batches.filter(({ position }) => position <= reached).flatMap(({ events }) => events);
  }

  /** How far it got. */
  get position(): Position | undefined {
    return this.positions.at(-1);
  }

  /**
   * Waits until the given condition on this follower is true.
   * @throws the error that the subscription ended with, if it ended first
   */
  async until(condition: (follower: this) => boolean): Promise<this> {
    while (!condition(this)) {
      if (this.end !== undefined) throw this.end;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    return this;
  }

  /** Waits until the follower has handled everything up to a position. */
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

/** Returns all events that are in the log now, read by a subscription. */
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

/** Checks a range of the total order, event by event, without keeping the events. */
export class Audit {
  readonly faults: string[] = [];
  /** The ids seen so far, in order. */
  readonly ids = new Set<string>();
  readonly #streams = new Map<string, { revision: number; hash: string; missing: number }>();
  #position = '';

  /** Checks the events that come next. */
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

  /** Returns all faults found, including incomplete appends. */
  end(): string[] {
    const torn = [...this.#streams].filter(([, { missing }]) => missing > 0);
    return [...this.faults, ...torn.map(([stream]) => `${stream}: ends inside an append`)];
  }
}

/** Audits the log from a position up to its current head. */
export async function auditLog(store: EventStore, after: Position): Promise<Audit> {
  const audit = new Audit();
  const follower = new Follower(store, { after }, async ({ events }) => audit.take(events), 'forget');
  const head = await store.head();
  if (head !== BEGINNING) await follower.reaches(head);
  follower.stop();
  return audit;
}

/** Returns the faults in a range of the total order; empty if there are none. */
export function faultsIn(events: readonly RecordedEvent[]): string[] {
  const audit = new Audit();
  audit.take(events);
  return audit.end();
}
