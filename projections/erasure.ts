/**
 * Erasures: what the log says about records whose events no longer exist, and which differences between rows are explained by
 * erasures.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { isErased } from '#src/events/erased.ts';
import { BEGINNING, type EventStore } from '#src/events/store.ts';
import { projectStream } from '#src/events/streams.ts';
import type { RowDifference } from './compare.ts';
import { decodeOnce } from './parsed.ts';
import { replay } from './replay.ts';

/** The log's events about one record's erasure. */
export interface ErasureTrace {
  /** `RecordErasureRequested`, with the requester. */
  readonly requested: StoredEvent;
  /** `RecordErased`; undefined while the erasure is in progress. */
  readonly erased: StoredEvent | undefined;
}

/**
 * Returns what the log says about the erasures of the given records, in one pass over the projects' streams; records that it
 * doesn't mention are absent.
 */
export async function readTraces(
  store: Pick<EventStore, 'subscribe' | 'head'>,
  patients: ReadonlySet<string>,
): Promise<Map<string, ErasureTrace>> {
  const traces = new Map<string, ErasureTrace>();
  if (patients.size === 0) return traces;
  await replay({
    store,
    after: BEGINNING,
    until: await store.head(),
    prefixes: [projectStream('')],
    batchSize: 1_000,
    async handle({ events }) {
      for (const recorded of events) {
        if (recorded.type !== 'RecordErasureRequested' && recorded.type !== 'RecordErased') continue;
        const stored = decodeOnce(recorded);
        const { event } = stored;
        if (event.type === 'RecordErasureRequested' && patients.has(event.data.patient)) {
          traces.set(event.data.patient, { requested: stored, erased: undefined });
        } else if (event.type === 'RecordErased' && patients.has(event.data.patient)) {
          const requested = traces.get(event.data.patient)?.requested ?? stored;
          traces.set(event.data.patient, { requested, erased: stored });
        }
      }
    },
  });
  return traces;
}

/**
 * Returns only the differences that are faults. After a record's stream was removed on request, and before the event
 * `RecordErased`, tables may show data that the log no longer contains.
 */
export async function withoutErasures(
  store: Pick<EventStore, 'read' | 'subscribe' | 'head'>,
  differences: readonly RowDifference[],
): Promise<RowDifference[]> {
  const gone = new Set<string>();
  for (const record of new Set(differences.map((each) => each.record))) {
    if (record !== null && (await isErased(store, record))) gone.add(record);
  }
  const lawful = await readTraces(store, gone);
  const excused = new Set<unknown>();
  for (const { record, key } of differences) {
    if (record !== null && lawful.has(record)) excused.add(key.id);
  }
  // Rows of tables without an owner column name only the resource; it is excused if a difference in another table was excused
  // for it.
  return differences.filter(({ record, key }) =>
    record === null ? !excused.has(key.id) : !lawful.has(record),
  );
}
