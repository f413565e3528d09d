/** Removes bytes that no event names: of uploads that broke off, were refused at the end, or were never finalized. */
import { understand } from '#src/events/codec.ts';
import { requireKnownType } from '#src/events/newer.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type DocumentStore, type ListedBlob, lockOf } from './store.ts';

/** What it works with. */
export interface SweepDeps {
  readonly store: Pick<DocumentStore, 'list' | 'remove' | 'removeUnfinished'>;
  readonly log: Pick<EventStore, 'read'>;
  /** Held by whoever finalizes, too. */
  readonly locks: { hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> };
  /** Which of these some version of their document shows, as far as a read model knows. */
  readonly shown: (blobs: readonly ListedBlob[]) => Promise<ReadonlySet<ListedBlob>>;
}

/** Blobs that are looked at together. */
const AT_ONCE = 500;

/**
 * Sweeps once.
 * @param before what is younger may still belong to an upload that goes on.
 * @returns how many blobs were removed.
 */
export async function sweepDocuments(deps: SweepDeps, before: Date): Promise<number> {
  let removed = 0;
  let some: ListedBlob[] = [];
  const look = async (): Promise<void> => {
    const shown = await deps.shown(some);
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

/**
 * A read model may lack what it has not come to: the events themselves have the last word, and are read once more while
 * nobody can add one that names what is removed.
 */
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
    const keys = few.map(({ document }) => lockOf(document));
    const sweep = async (): Promise<number> => {
      const gone = await unnamed(few);
      for (const blob of gone) await store.remove(blob);
      return gone.length;
    };
    removed += await locks.hold(keys, sweep).catch((error: unknown) => {
      // Somebody else holds one of them for long: the next sweep has its turn.
      if (error instanceof Refusal && error.kind === 'unavailable') return 0;
      throw error;
    });
  }
  return removed;
}

/** `<document>/<blob>` of all that events of a record name; of a purged record none do. @throws NewerEvent */
async function namedIn(log: Pick<EventStore, 'read'>, patient: string): Promise<ReadonlySet<string>> {
  const named = new Set<string>();
  try {
    for await (const recorded of log.read(recordStream(patient))) {
      // A type that this instance doesn't know may name bytes, too.
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
