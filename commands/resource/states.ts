/**
 * States of streams in memory: an LRU by bytes over what can be loaded again from a snapshot and the events after it.
 * Snapshots are disposable rows, ids and versions only, so that a write to a stream of 100,000 events costs little
 * more than one to a stream of ten.
 */
import { LRUCache } from 'lru-cache';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { EventStore, StreamHead } from '#src/events/store.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import type { Micros } from '#src/shared/time.ts';
import { type Entry, emptyState, evolve, foldable, knows, type StreamState, sizeOf } from './state.ts';

/** A stream's snapshot, with those of its entries that were asked for. */
export interface Snapshot {
  readonly head: StreamHead;
  readonly recordedAt: Micros;
  readonly owner: Tenant | undefined;
  readonly entries: ReadonlyMap<string, Entry>;
}

/** Where snapshots are kept (`src/operations/snapshots.ts`). Losing them costs time, never truth. */
export interface Snapshots {
  /** The newest snapshot of a stream and its entries among `ids`, in one consistent look; undefined when there is none. */
  load(stream: string, ids: readonly string[]): Promise<Snapshot | undefined>;
  /** Moves the snapshot forward to `head`; `changed` are all entries touched since the one it replaces. */
  save(
    stream: string,
    snapshot: Omit<Snapshot, 'entries'>,
    changed: ReadonlyMap<string, Entry>,
  ): Promise<void>;
  /** Removes a stream's snapshot. */
  forget(stream: string): Promise<void>;
}

/** Keeps none: for streams that are short, and for who handles one command. */
export const NO_SNAPSHOTS: Snapshots = {
  load: async () => undefined,
  save: async () => undefined,
  forget: async () => undefined,
};

/** A snapshot is taken when a stream has grown by this many events since the last. */
export const SNAPSHOT_EVERY = 500;

/** The states of this process. */
export class States {
  readonly #cache: LRUCache<string, StreamState>;
  readonly #saving = new Set<string>();

  /** @param maxBytes how much memory the cached states may take together. */
  constructor(
    readonly store: EventStore,
    readonly snapshots: Snapshots,
    maxBytes = 32 * 1024 * 1024,
  ) {
    this.#cache = new LRUCache({ maxSize: maxBytes, sizeCalculation: sizeOf });
  }

  /**
   * The state of a stream as far as this process knows, with the given ids loaded. It may be behind the store: a
   * decision that appends nothing from it must `refresh` first.
   * @returns whether it was read to the stream's end just now.
   */
  async get(stream: string, ids: readonly string[]): Promise<{ state: StreamState; fresh: boolean }> {
    const cached = this.#cache.get(stream);
    if (cached !== undefined) {
      if (knows(cached, ids) || (await this.#complete(cached, ids))) return { state: cached, fresh: false };
      this.#cache.delete(stream);
    }
    return { state: await this.#load(stream, ids), fresh: true };
  }

  /** What this process remembers of a stream, maybe behind the store; undefined when it remembers nothing. */
  peek(stream: string): StreamState | undefined {
    return this.#cache.get(stream);
  }

  /** Reads a state forward to the end of its stream. @returns whether it changed. */
  async refresh(state: StreamState): Promise<boolean> {
    const before = state.head?.revision ?? -1;
    for await (const recorded of this.store.read(state.stream, { from: before + 1 }))
      evolve(state, foldable(understand(recorded)));
    this.#keep(state);
    return (state.head?.revision ?? -1) !== before;
  }

  /** The state as it was at a revision (-1: before the first event), read from the events alone. */
  async asOf(stream: string, revision: number): Promise<StreamState> {
    const state = emptyState(stream);
    if (revision < 0) return state;
    for await (const recorded of this.store.read(stream, { limit: revision + 1 }))
      evolve(state, foldable(understand(recorded)));
    return state;
  }

  /** Keeps a state that a command has moved forward, and takes a snapshot when one is due. */
  moved(state: StreamState): void {
    this.#keep(state);
    const { head } = state;
    if (
      head === undefined ||
      head.revision - state.snapshotRevision < SNAPSHOT_EVERY ||
      this.#saving.has(state.stream)
    )
      return;
    const changed = new Map<string, Entry>();
    for (const id of state.touched) {
      const entry = state.entries.get(id);
      if (entry) changed.set(id, entry);
    }
    this.#saving.add(state.stream);
    const { recordedAt, owner } = state;
    this.snapshots
      .save(state.stream, { head, recordedAt, owner }, changed)
      .then(
        () => {
          state.snapshotRevision = head.revision;
          for (const [id, entry] of changed) if (state.entries.get(id) === entry) state.touched.delete(id);
        },
        () => undefined, // the next one due tries again
      )
      .finally(() => this.#saving.delete(state.stream));
  }

  /** Forgets a stream: after a failure that left its end unknown, or its erasure. */
  drop(stream: string): void {
    this.#cache.delete(stream);
  }

  #keep(state: StreamState): void {
    if (state.head === undefined) return;
    // Of a value that is there already the cache would not count anew how large it has grown.
    this.#cache.delete(state.stream);
    this.#cache.set(state.stream, state);
  }

  /** Adds ids that a partial state lacks. False when the snapshot has passed the state: load anew. */
  async #complete(state: StreamState, ids: readonly string[]): Promise<boolean> {
    const missing = ids.filter((id) => !state.entries.has(id));
    const snapshot = await this.#borneOut(state.stream, missing, false);
    if (snapshot === undefined || snapshot.head.revision > (state.head?.revision ?? -1)) return false;
    // What `missing` names was not touched since the snapshot that the state grew from, so this older look is right.
    for (const id of missing)
      if (!state.entries.has(id)) state.entries.set(id, snapshot.entries.get(id) ?? null);
    this.#keep(state);
    return true;
  }

  /**
   * A stream's snapshot if the events that it names are what it says they are; else it is removed, and nothing is
   * taken from it: what stands in a table must not become history.
   * @param whole whether its head and owner will be used too.
   */
  async #borneOut(stream: string, ids: readonly string[], whole: boolean): Promise<Snapshot | undefined> {
    const snapshot = await this.snapshots.load(stream, ids);
    if (snapshot === undefined) return undefined;
    const checks = [...snapshot.entries].map(async ([id, { type, version, deleted, revision }]) => {
      const event = (await this.#eventAt(stream, revision))?.event;
      return (
        event !== undefined &&
        'resourceId' in event &&
        event.resourceId === id &&
        event.resourceType === type &&
        event.version === version &&
        (event.type === 'ResourceDeleted') === deleted
      );
    });
    if (whole) checks.push(this.#isHead(stream, snapshot));
    if ((await Promise.all(checks)).every(Boolean)) return snapshot;
    await this.snapshots.forget(stream);
    return undefined;
  }

  async #isHead(stream: string, { head, recordedAt, owner }: Snapshot): Promise<boolean> {
    const event = await this.#eventAt(stream, head.revision);
    if (event === undefined) return false;
    const said = foldable(event);
    const same = said.owner?.project === owner?.project && said.owner?.environment === owner?.environment;
    return said.hash === head.hash && said.at === recordedAt && same;
  }

  async #eventAt(stream: string, revision: number): Promise<StoredEvent | undefined> {
    for await (const recorded of this.store.read(stream, { from: revision, limit: 1 })) {
      return understand(recorded);
    }
    return undefined;
  }

  async #load(stream: string, ids: readonly string[]): Promise<StreamState> {
    const state = emptyState(stream);
    const snapshot = await this.#borneOut(stream, ids, true);
    if (snapshot !== undefined) {
      Object.assign(state, { head: snapshot.head, recordedAt: snapshot.recordedAt, owner: snapshot.owner });
      state.complete = false;
      state.snapshotRevision = snapshot.head.revision;
      for (const id of ids) state.entries.set(id, snapshot.entries.get(id) ?? null);
    }
    await this.refresh(state);
    return state;
  }
}
