/**
 * The state that decisions about versioned resources, grants and links need: a stream's ids, versions and statuses, without
 * bodies. Its snapshots have one row per resource, so a write to a long stream reads only a small part of the snapshot.
 */

import { isDeepStrictEqual } from 'node:util';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { ALL_CONSENT, type Entry, entriesIn } from '#src/events/snapshot-entries.ts';
import { SNAPSHOT_VERSION } from '#src/events/snapshot-version.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import type { EventOf } from '#src/events/streams.ts';
import { toMicros } from '#src/shared/time/time.ts';
import type { Snapshot, Snapshots } from '../command.ts';
import type { Fold, Stream } from '../kernel/kernel.ts';
import type { Loader } from '../kernel/streams.ts';

/**
 * The loaded state of a record or directory; partial if it was built from a snapshot
 * (docs/decisions/0002-snapshots-by-row.md).
 */
export interface Resources {
  readonly stream: string;
  /**
   * Every id that was requested, or was written since the snapshot; `null` means that it doesn't exist. Grants and links have
   * their own keys (`src/events/snapshot-entries.ts`).
   */
  readonly entries: Map<string, Entry | null>;
  /** True if ids that are missing from `entries` certainly don't exist. */
  isComplete: boolean;
  /** The newest snapshot's revision; -1 without a snapshot. */
  snapshotRevision: number;
}

/** The fold of records and directories. */
export const RESOURCES: Fold<Resources, EventOf<'record' | 'directory'>> = {
  name: 'resources',
  kinds: ['record', 'directory'],
  initial: (stream) => ({ stream, entries: new Map(), isComplete: true, snapshotRevision: -1 }),
  evolve({ entries }, event, revision) {
    for (const [key, entry] of entriesIn(event, revision)) entries.set(key, entry);
  },
  estimateSize: ({ entries }) => 100 + entries.size * 180,
};

/** Returns a resource's entry, live or deleted; undefined if the resource never existed. The id must have been loaded. */
export function findEntry({ entries }: Readonly<Resources>, id: string): Entry | undefined {
  return entries.get(id) ?? undefined;
}

/** A snapshot is taken when a stream has grown by this many events since the last one. */
const SNAPSHOT_EVERY = 500;

/** Starts streams from their snapshots, and takes new snapshots. */
export class SnapshotLoader implements Loader<Resources> {
  /** Streams whose snapshot is being saved, or can't be saved until their state is loaded again. */
  readonly #paused = new Set<string>();

  /** @param every a snapshot is taken each time a stream has grown by this many events. Default: 500 */
  constructor(
    private readonly store: EventStore,
    private readonly snapshots: Snapshots,
    private readonly every = SNAPSHOT_EVERY,
  ) {}

  async start(stream: Stream<Resources>, ids: readonly string[]): Promise<void> {
    this.#paused.delete(stream.name);
    const snapshot = await this.#verified(stream.name, ids, true);
    if (snapshot === undefined) return;
    const { head, position, recordedAt, owner, entries } = snapshot;
    Object.assign(stream, { head, position, recordedAt, owner });
    Object.assign(stream.state, { isComplete: false, snapshotRevision: head.revision });
    put(stream.state, ids, entries);
  }

  async complete({ name, state, revision }: Stream<Resources>, ids: readonly string[]): Promise<boolean> {
    const missing = state.isComplete ? [] : ids.filter((id) => !state.entries.has(id));
    if (missing.length === 0) return true;
    const snapshot = await this.#verified(name, missing, false);
    if (snapshot === undefined || snapshot.head.revision > revision) return false;
    // None of these entries has been written since the snapshot from which the state was built, so it is safe to read an older
    // snapshot.
    put(state, missing, snapshot.entries);
    return true;
  }

  advanced({ name, state, head, recordedAt, owner }: Stream<Resources>): void {
    const { entries, snapshotRevision: last } = state;
    if (head === undefined || head.revision - last < this.every || this.#paused.has(name)) return;
    const changed = new Map<string, Entry>();
    for (const [id, entry] of entries) if (entry && entry.revision > last) changed.set(id, entry);
    const saved = (isStored: boolean) => {
      if (!isStored && (last < 0 || !state.isComplete)) return;
      // If the snapshot has been removed in the meantime, the next one will contain everything.
      state.snapshotRevision = isStored ? head.revision : -1;
      this.#paused.delete(name);
    };
    this.#paused.add(name);
    const own = { fold: SNAPSHOT_VERSION, head, recordedAt, owner };
    const saving = this.snapshots.save(name, own, changed, last);
    saving.then(saved, () => this.#paused.delete(name)); // after a failure, the next one has it all
  }

  /**
   * Returns a snapshot made by this fold if it matches the events that it refers to; otherwise removes it. Snapshots made by
   * other folds are kept.
   * @param isWhole true to use the snapshot's head too
   */
  async #verified(
    stream: string,
    ids: readonly string[],
    isWhole: boolean,
  ): Promise<(Snapshot & { readonly position: Position | undefined }) | undefined> {
    const snapshot = await this.snapshots.load(stream, ids, ids.includes(ALL_CONSENT));
    if (snapshot?.fold !== SNAPSHOT_VERSION) return undefined;
    const { head, recordedAt, owner } = snapshot;
    const events = new Map<number, Promise<StoredEvent | undefined>>();
    const eventAt = (revision: number): Promise<StoredEvent | undefined> => {
      const read = events.get(revision) ?? this.#eventAt(stream, revision);
      events.set(revision, read);
      return read;
    };
    const checks = [...snapshot.entries].map(async ([id, entry]) => {
      const { event } = (await eventAt(entry.revision)) ?? {};
      const written = event === undefined ? [] : entriesIn(event, entry.revision);
      return written.some(([key, own]) => key === id && isDeepStrictEqual(own, entry));
    });
    let position: Position | undefined;
    const isHead = async (): Promise<boolean> => {
      const event = await eventAt(head.revision);
      position = event?.position;
      const metadata = event?.metadata;
      const last = metadata && [metadata.hash, toMicros(metadata.recorded_at), metadata.owner];
      return isDeepStrictEqual(last, [head.hash, recordedAt, owner]);
    };
    if ((await Promise.all([...checks, !isWhole || isHead()])).every(Boolean))
      return { ...snapshot, position };
    await this.snapshots.forget(stream);
    return undefined;
  }

  async #eventAt(stream: string, from: number): Promise<StoredEvent | undefined> {
    for await (const recorded of this.store.read(stream, { from, limit: 1 })) return understand(recorded);
    return undefined;
  }
}

/** Adds the requested entries to a state. Entries written since the snapshot are newer and are kept. */
function put({ entries }: Resources, ids: readonly string[], found: ReadonlyMap<string, Entry>): void {
  for (const id of ids) entries.set(id, found.get(id) ?? null);
  for (const [id, entry] of found) if (!entries.has(id)) entries.set(id, entry);
}
