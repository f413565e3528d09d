/** Reads a stretch of the log once, batch by batch, for rebuilding and verifying. */
import type { Subscription } from 'rxjs';
import type { EventBatch, EventStore, Position } from '#src/events/store.ts';

/** The range to replay, and the receiver. */
export interface ReplayOptions {
  readonly store: Pick<EventStore, 'subscribe' | 'head'>;
  readonly after: Position;
  /** The last position wanted; the end of an append. */
  readonly until: Position;
  readonly prefixes?: readonly string[];
  readonly batchSize: number;
  /** Stops after the batch in hand. */
  readonly signal?: AbortSignal | undefined;
  /** Takes batches in order; the last has the position `until`. */
  readonly handle: (batch: EventBatch) => Promise<void>;
}

/**
 * Passes on all events after `after` up to `until`.
 * @returns whether it reached the end; false if `signal` aborted earlier
 * @throws the errors of `handle`, or Unavailable
 */
export async function replay(options: ReplayOptions): Promise<boolean> {
  const { store, after, until } = options;
  if (until <= after) return true;
  // The end of the log may have been erased: then it is behind a checkpoint that once was there.
  const last = earlier(await store.head(), until);
  const reached = last > after ? await readTo(last, options) : after;
  if (reached < last) return false;
  if (last < until) await options.handle({ events: [], position: until });
  return true;
}

/** Hands over everything up to `last`. @returns how far it came. */
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
  // Stopped while a batch was in hand: the caller's connection is free only after it.
  await handling;
  return position;
}

const earlier = (a: Position, b: Position): Position => {
  if (a < b) return a;
  return b;
};
