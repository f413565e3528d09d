/** Lets a reader pull part of a log at its own pace, so that two logs can be read in parallel. */
import type { EventBatch, EventStore, Position, RecordedEvent } from '#src/events/store.ts';

const BATCH_SIZE = 1_000;

/** A batch that is waiting to be taken. */
interface Handed {
  readonly batch: EventBatch;
  readonly taken: () => void;
}

/**
 * Yields batches after `after` and up to `until`. Each batch is read once the previous batch has been taken.
 * @throws Unavailable
 */
export async function* batches(
  store: Pick<EventStore, 'subscribe'>,
  after: Position,
  until: Position,
): AsyncGenerator<EventBatch> {
  if (until <= after) return;
  let handed: Handed | undefined;
  let wake: () => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  let next = new Promise<void>(() => undefined);
  const renew = (): void => {
    next = new Promise((resolve, reject) => {
      wake = resolve;
      fail = reject;
    });
    // Awaited only after the current batch has been yielded.
    next.catch(() => undefined);
  };
  renew();
  const subscription = store
    .subscribe({
      after,
      batchSize: BATCH_SIZE,
      handle: (batch) =>
        new Promise((taken) => {
          handed = { batch, taken };
          wake();
        }),
    })
    .subscribe({
      error: (error: unknown) => fail(error),
      complete: () => fail(new Error('the event store is closed')),
    });
  try {
    for (;;) {
      await next;
      const { batch, taken } = handed as Handed;
      const over = batch.position >= until;
      yield over
        ? { events: batch.events.filter(({ position }) => position <= until), position: until }
        : batch;
      if (over) return;
      renew();
      taken();
    }
  } finally {
    subscription.unsubscribe();
    handed?.taken();
  }
}

/**
 * Yields the events in a range.
 * @throws Unavailable
 */
export async function* events(
  store: Pick<EventStore, 'subscribe'>,
  after: Position,
  until: Position,
): AsyncGenerator<RecordedEvent, undefined> {
  for await (const batch of batches(store, after, until)) yield* batch.events;
}
