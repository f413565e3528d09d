/** Checks the access log, for `annal verify` and `annal checkpoint`. */
import { readTraces } from '#projections/erasure.ts';
import { closeSession, openSession } from '#projections/session.ts';
import { accessName, recordOfAccessLog, type StreamLeaf } from '#src/audit/checkpoint.ts';
import type { EventStore } from '#src/events/store.ts';
import {
  type AccessHead,
  AccessLogCheck,
  type AccessLogReport,
  type FindPurges,
  type PurgeTrace,
} from '#src/operations/access-log/check.ts';

/** The maximum number of faults that are listed. */
const NAMED = 1_000;

/**
 * Runs `work` with a check on a separate session.
 * @param only the records to check; default: all
 */
export async function withAccessCheck<T>(
  databaseUrl: string,
  work: (check: AccessLogCheck) => Promise<T>,
  only?: ReadonlySet<string>,
): Promise<T> {
  const session = await openSession(databaseUrl, { name: 'verify access log', scratch: true });
  try {
    return await work(new AccessLogCheck(session, NAMED, only));
  } finally {
    await closeSession(session);
  }
}

/** Returns a function that finds purges in an event log. */
export function purgesIn(store: Pick<EventStore, 'subscribe' | 'head'>): FindPurges {
  return async (records) => {
    const found = new Map<string, PurgeTrace>();
    for (const [record, { requested, erased }] of await readTraces(store, records)) {
      const { event } = erased ?? requested;
      if (event.type === 'RecordErasureRequested' || event.type === 'RecordErased') found.set(record, event);
    }
    return found;
  };
}

/** Yields a checkpoint's lines for access logs, which precede the lines for streams. */
export async function* accessLeaves(heads: AsyncIterable<AccessHead>): AsyncGenerator<StreamLeaf> {
  for await (const { record, entries, hash } of heads)
    yield { stream: accessName(record), revision: entries, hash };
}

/** Yields the heads of the access logs in a checkpoint. */
export async function* accessHeadsIn(leaves: AsyncIterable<StreamLeaf>): AsyncGenerator<AccessHead> {
  for await (const { stream, revision, hash } of leaves) {
    const record = recordOfAccessLog(stream);
    if (record !== undefined) yield { record, entries: revision, hash };
  }
}

/** Yields the heads of the streams in a checkpoint. */
export async function* streamHeadsIn(leaves: AsyncIterable<StreamLeaf>): AsyncGenerator<StreamLeaf> {
  for await (const leaf of leaves) if (recordOfAccessLog(leaf.stream) === undefined) yield leaf;
}

/**
 * Describes what was compared in addition to events, for reports.
 * @param models names of read models
 */
export function comparedIn(
  { records, entries }: Pick<AccessLogReport, 'records' | 'entries'>,
  documents: number,
  models: readonly string[],
): object {
  return { documents, access_logs: records, access_entries: entries, read_models: models };
}
