/** Removes bytes that no event names: the bytes of uploads that broke off, were refused at the end, or were never finalized. */
import { understand } from '#src/events/codec.ts';
import { requireKnownType } from '#src/events/newer.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type DocumentStore, type ListedBlob, lockName } from './store.ts';

/** Dependencies for the removal of unnamed bytes. */
export interface SweepDeps {
  readonly store: Pick<DocumentStore, 'list' | 'remove' | 'removeUnfinished'>;
  readonly log: Pick<EventStore, 'read'>;
  /** The locks that finalizing a document takes too. */
  readonly locks: { hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> };
  /** Returns the blobs that, according to a read model, are used by at least one version of their document. */
  readonly findShown: (blobs: readonly ListedBlob[]) => Promise<ReadonlySet<ListedBlob>>;
}

/** The number of blobs that are checked together. */
const AT_ONCE = 500;

/**
 * Removes blobs that no event names.
 * @param before newer blobs are kept, because they may belong to uploads in progress
 * @returns the number of blobs removed
 */
export async function sweepDocuments(deps: SweepDeps, before: Date): Promise<number> {
  let removed = 0;
  let some: ListedBlob[] = [];
  const look = async (): Promise<void> => {
    const shown = await deps.findShown(some);
    removed += await removeUnnamed(
      deps,
      some.filter((blob) => !shown.has(blob)),
    );
    some = [];
  };
  for await (const blob of deps.store.list()) {
    if (blob.modified >= before || !isUuid(blob.patient)) continue;
    some.push(blob);
    if (some.length === AT_ONCE) await look();
  }
  await look();
  await deps.store.removeUnfinished(before);
  return removed;
}

/** Removes blobs that no event names. The read model may lag, so the events themselves are checked under the lock. */
async function removeUnnamed(
  { store, log, locks }: SweepDeps,
  blobs: readonly ListedBlob[],
): Promise<number> {
  let removed = 0;
  const byPatient = new Map<string, ListedBlob[]>();
  for (const blob of blobs) byPatient.set(blob.patient, [...(byPatient.get(blob.patient) ?? []), blob]);
  for (const [patient, own] of byPatient) {
    const unnamed = async (some: readonly ListedBlob[]): Promise<ListedBlob[]> => {
      const named = await namedIn(log, patient);
      return some.filter(({ document, blob }) => !named.has(`${document}/${blob}`));
    };
    const few = await unnamed(own);
    if (few.length === 0) continue;
    const keys = few.map(({ document }) => lockName(document));
    const sweep = async (): Promise<number> => {
      const gone = await unnamed(few);
      for (const blob of gone) await store.remove(blob);
      return gone.length;
    };
    removed += await locks.hold(keys, sweep).catch((error: unknown) => {
      // Another process held the lock for too long; the next round tries again.
      if (error instanceof Refusal && error.kind === 'unavailable') return 0;
      throw error;
    });
  }
  return removed;
}

/**
 * Returns `<document>/<blob>` for every blob that a record's events name; an empty set for a purged record.
 * @throws NewerEvent
 */
async function namedIn(log: Pick<EventStore, 'read'>, patient: string): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  try {
    for await (const recorded of log.read(recordStream(patient))) {
      // An event whose type this instance doesn't know may name bytes too.
      requireKnownType(recorded);
      if (recorded.type !== 'DocumentFinalized') continue;
      const { event } = understand(recorded);
      if (event.type === 'DocumentFinalized') named.add(`${event.data.id}/${event.data.blob}`);
    }
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  return named;
}
