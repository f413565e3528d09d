/**
 * Measures how far the log's followers lag behind. Positions alone aren't enough: the embedded log has gaps, and EventStoreDB
 * counts bytes. So the outstanding events are counted by reading them, up to a limit; nothing is read for a follower that is
 * up to date. The age of the backlog is that of the oldest outstanding event.
 */
import { parseMetadata } from '#src/events/metadata.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { replay } from './replay.ts';

/** The maximum number of events to count per follower. */
export const COUNTED = 5_000;
/** The maximum time to spend counting, in ms; after that, the current count is returned. */
const PATIENCE_MS = 1_500;
/** Smaller than a projection's batch, because counting may stop at any point. */
const BATCH_SIZE = 250;

/** A follower's lag. */
export interface Lag {
  /** The number of events that the follower hasn't passed yet, at most `COUNTED`. */
  readonly events: number;
  /** Age of the oldest outstanding event in seconds; 0 if there is none. */
  readonly seconds: number;
}

/**
 * Returns lags by name. Starts with the follower that is furthest ahead and ends with the one furthest behind, so that each
 * stretch of the log is read only once.
 * @param positions each follower's position, which is the end of an append
 * @throws Unavailable
 */
export async function measureLags(
  store: Pick<EventStore, 'subscribe' | 'head'>,
  positions: ReadonlyMap<string, Position>,
): Promise<Map<string, Lag>> {
  const foremost = [...positions].sort(([, a], [, b]) => (a < b ? 1 : a > b ? -1 : 0));
  const lags = new Map<string, Lag>();
  let until = await store.head();
  const patience = AbortSignal.timeout(PATIENCE_MS);
  let events = 0;
  let oldest: string | undefined;
  for (const [name, after] of foremost) {
    const stretch = await count(store, after, until, COUNTED - events, patience);
    events += stretch.events;
    oldest = stretch.oldest ?? oldest;
    lags.set(name, { events, seconds: oldest === undefined ? 0 : secondsSince(oldest) });
    if (after < until) until = after;
  }
  return lags;
}

/** Counts events up to a limit, and returns when the first event was recorded, regardless of the limit. */
async function count(
  store: Pick<EventStore, 'subscribe' | 'head'>,
  after: Position,
  until: Position,
  most: number,
  patience: AbortSignal,
): Promise<{ events: number; oldest: string | undefined }> {
  let counted = 0;
  let oldest: string | undefined;
  const enough = new AbortController();
  await replay({
    store,
    after,
    until,
    batchSize: most === 0 ? 1 : BATCH_SIZE,
    signal: AbortSignal.any([enough.signal, patience]),
    async handle({ events: [first, ...rest] }) {
      if (first === undefined) return;
      oldest ??= parseMetadata(first.metadata).recorded_at;
      counted = Math.min(counted + 1 + rest.length, most);
      if (counted === most) enough.abort();
    },
  });
  return { events: counted, oldest };
}

const secondsSince = (recordedAt: string): number =>
  Math.max(0, (Date.now() - Date.parse(recordedAt)) / 1_000);
