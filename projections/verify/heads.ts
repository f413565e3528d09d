/** Returns the heads of all streams for a checkpoint, in one pass over the log; checks the log in the same pass. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING, type EventBatch, type EventStore, type Position } from '#src/events/store.ts';
import { replay } from '../replay.ts';
import { closeSession, openSession } from '../session.ts';
import type { NamedHead } from './chain-check.ts';
import { LogCheck, type LogFault } from './log-check.ts';

/** The log up to a position. */
export interface LogHeads {
  readonly position: Position;
  readonly events: number;
  readonly streams: number;
  /** Sorted in byte order of the stream names, and read page by page from the database. */
  readonly heads: AsyncIterable<NamedHead>;
}

/** Thrown if the log has faults, which means that its heads can't be trusted. */
export class LogFaulty extends Error {
  override readonly name = 'LogFaulty';
  /** @param faults at most 1,000 */
  constructor(readonly faults: readonly LogFault[]) {
    super(`the log has ${faults.length} faults`);
  }
}

export interface HeadsOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of events read so far, and the position. */
  readonly onProgress?: (events: number, position: Position) => void;
  /** Receives every event that can be understood, in order, during the same read. */
  readonly also?: (events: readonly StoredEvent[]) => Promise<void>;
}

const BATCH_SIZE = 2_000;
const NAMED = 1_000;

/**
 * Reads the log up to its current end, and passes its streams' heads to `use`.
 * @param deps the database is used for temporary tables that contain the heads seen so far
 * @returns the result of `use`; undefined if `signal` aborted before the end
 * @throws LogFaulty if a chain is broken; Unavailable; database errors; errors from `use`
 */
export async function withHeads<T>(
  deps: { readonly store: Pick<EventStore, 'subscribe' | 'head' | 'read'>; readonly databaseUrl: string },
  use: (log: LogHeads) => Promise<T>,
  { signal, onProgress, also }: HeadsOptions = {},
): Promise<T | undefined> {
  const { store, databaseUrl } = deps;
  const session = await openSession(databaseUrl, { name: 'checkpoint', scratch: true });
  try {
    const check = new LogCheck(session, store, NAMED);
    await check.begin();
    const position = await store.head();
    const handle = async ({ events, position: reached }: EventBatch): Promise<void> => {
      const readable = await check.check(events);
      await also?.(readable);
      onProgress?.(check.events, reached);
    };
    const complete = await replay({
      store,
      after: BEGINNING,
      until: position,
      batchSize: BATCH_SIZE,
      signal,
      handle,
    });
    if (!complete) return undefined;
    if (check.faults.length > 0) throw new LogFaulty(check.faults);
    const { chains, events } = check;
    return await use({ position, events, streams: await chains.streams(), heads: chains.heads() });
  } finally {
    await closeSession(session);
  }
}
