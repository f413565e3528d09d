/** Reads a range of the log once, batch by batch, for rebuilding and verifying. */
import type { Subscription } from 'rxjs';
import type { EventBatch, EventStore, Position } from '#src/events/store.ts';

/** The range to replay, and the receiver. */
export interface ReplayOptions {
  readonly store: Pick<EventStore, 'subscribe' | 'head'>;
  readonly after: Position;
  /** The last position to read, which is the end of an append. */
  readonly until: Position;
  readonly prefixes?: readonly string[];
  readonly batchSize: number;
  /** Stops after the current batch. */
  readonly signal?: AbortSignal | undefined;
  /** Receives batches in order; the last batch has the position `until`. */
  readonly handle: (batch: EventBatch) => Promise<void>;
}

/**
 * Passes on all events after `after`, up to and including `until`.
 * @returns true if it reached the end; false if `signal` aborted first
 * @throws errors from `handle`, or Unavailable
 */
export async function replay(options: ReplayOptions): Promise<boolean> {
  const { store, after, until } = options;
  if (until <= after) return true;
  // The end of the log may have been erased: then it is before a checkpoint that the log once reached.
  const last = earlier(await store.head(), until);
  const reached = last > after ? await readTo(last, options) : after;
  if (reached < last) return false;
  if (last < until) await options.handle({ events: [], position: until });
  return true;
}

/**
 * Passes on everything up to `last`.
 * @returns the position that it reached
 */
async function readTo(last: Position, options: ReplayOptions): Promise<Position> {
  const { store, after, prefixes, batchSize, signal } = options;
  let position = after;
  let handling: Promise<void> = Promise.resolve();
  let subscription: Subscription | undefined;
  await new Promise<void>((resolve, reject) => {
    const ended = () => position >= last || signal?.aborted === true;
    const handle = async (batch: EventBatch): Promise<void> => {
      if (ended()) return;
      const whole = batch.position <= last;
      const events = whole ? batch.events : batch.events.filter((event) => event.position <= last);
      handling = options.handle({ events, position: earlier(batch.position, last) });
      await handling;
      position = earlier(batch.position, last);
      if (ended()) resolve();
    };
    if (ended()) resolve();
    signal?.addEventListener('abort', () => resolve());
    const wanted = { after, batchSize, handle, ...(prefixes === undefined ? {} : { prefixes }) };
    subscription = store.subscribe(wanted).subscribe({ error: reject, complete: resolve });
  }).finally(() => subscription?.unsubscribe());
  // If stopped while a batch is being handled, waits for the batch: the caller's connection is free only afterwards.
  await handling;
  return position;
}

const earlier = (a: Position, b: Position): Position => {
  if (a < b) return a;
  return b;
};
