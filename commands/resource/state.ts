/** The state that decisions about versioned resources need: ids, versions and status of a stream, no bodies. */
import type { DomainEvent, StoredEvent } from '#src/events/catalog.ts';
import type { Expected, StreamHead } from '#src/events/store.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import { type Micros, toMicros } from '#src/shared/time.ts';

/** A resource as decisions know it. */
export interface Entry {
  readonly type: string;
  readonly version: number;
  readonly deleted: boolean;
  /** Revision of the event that wrote this version: where its body is. */
  readonly revision: number;
}

/**
 * What is known of a record's or directory's stream. `entries` holds every id that was asked for or touched since
 * `snapshotRevision`; an id that is known not to exist maps to `null`.
 */
export interface StreamState {
  readonly stream: string;
  head: StreamHead | undefined;
  /** Time of the last event: the next one is later. */
  recordedAt: Micros;
  owner: Tenant | undefined;
  readonly entries: Map<string, Entry | null>;
  /** Whether `entries` holds all of the stream: an id that it lacks does not exist. */
  complete: boolean;
  /** The snapshot this state grew from, -1 for none; entries touched since are in `touched`. */
  snapshotRevision: number;
  readonly touched: Set<string>;
}

/** A stream that has never been written. */
export function emptyState(stream: string): StreamState {
  return {
    stream,
    head: undefined,
    recordedAt: 0,
    owner: undefined,
    entries: new Map(),
    complete: true,
    snapshotRevision: -1,
    touched: new Set(),
  };
}

/** What an append must expect to continue from this state. */
export function expectedOf(state: StreamState): Expected {
  return state.head ?? 'none';
}

/** An event as the fold takes it. */
export interface Folded {
  readonly revision: number;
  readonly hash: string;
  readonly at: Micros;
  readonly owner: Tenant | undefined;
  readonly event: DomainEvent;
}

/** What the fold needs of a stored event. @throws TypeError when it bears no hash, which no adapter lets happen. */
export function foldable({ id, revision, metadata, event }: StoredEvent): Folded {
  if (metadata.hash === undefined) throw new TypeError(`event ${id} has no hash`);
  return { revision, hash: metadata.hash, at: toMicros(metadata.recorded_at), owner: metadata.owner, event };
}

/** Folds the next event of the stream into the state. */
export function evolve(state: StreamState, { revision, hash, at, owner, event }: Folded): void {
  state.head = { revision, hash };
  state.recordedAt = at;
  state.owner ??= owner;
  if (
    event.type === 'ResourceCreated' ||
    event.type === 'ResourceUpdated' ||
    event.type === 'ResourceDeleted'
  ) {
    state.entries.set(event.resourceId, {
      type: event.resourceType,
      version: event.version,
      deleted: event.type === 'ResourceDeleted',
      revision,
    });
    state.touched.add(event.resourceId);
  }
}

/** A live or deleted resource of the stream, undefined when it never was. The id must have been loaded. */
export function entryOf(state: StreamState, id: string): Entry | undefined {
  return state.entries.get(id) ?? undefined;
}

/** Whether everything that a decision about these ids needs is in memory. */
export function knows(state: StreamState, ids: readonly string[]): boolean {
  return state.complete || ids.every((id) => state.entries.has(id));
}

/** About how many bytes a state keeps in memory. */
export function sizeOf(state: StreamState): number {
  return 400 + state.entries.size * 180 + state.touched.size * 60;
}
