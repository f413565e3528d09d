/**
 * Read models in memory: the rows that commands and reads need, derived from events like the rows of the service's
 * projections. Rows and checkpoint change together. The batch must begin at the position where the runner believes the
 * checkpoint is.
 */
import { CheckpointMoved } from '#projections/checkpoint.ts';
import { isResourceEvent, readOwner, type StoredResourceEvent } from '#projections/owner.ts';
import { decodeOnce } from '#projections/parsed.ts';
import { makeRows } from '#projections/search/rows.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING, type EventBatch, type Position } from '#src/events/store.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { atOnce } from '#src/shared/load/slices.ts';

/** The current version of a resource. */
export interface ResourceRow {
  readonly id: string;
  readonly tenant: string;
  readonly type: ResourceType;
  readonly stream: string;
  readonly version: number;
  readonly deleted: boolean;
  readonly body: string | null;
}

/** The names of the read models and processes that follow the log. */
export const FOLLOWERS = ['resources', 'history', 'search', 'carried'] as const;
export type Follower = (typeof FOLLOWERS)[number];

/** A database's tables. */
export class ReadModels {
  readonly resources = new Map<string, ResourceRow>();
  /** The versions of each resource, in the order in which they arrived. */
  readonly history = new Map<string, readonly number[]>();
  /** Hashes of the values that a version can be found by. */
  readonly search = new Map<string, { readonly version: number; readonly keys: ReadonlySet<string> }>();
  readonly #checkpoints = new Map<Follower, Position>();

  constructor(private readonly isChecked = true) {}

  checkpoint(name: Follower): Position {
    return this.#checkpoints.get(name) ?? BEGINNING;
  }

  checkpoints(): ReadonlyMap<Follower, Position> {
    return new Map(FOLLOWERS.map((name) => [name, this.checkpoint(name)]));
  }

  /**
   * Applies a batch.
   * @throws CheckpointMoved if the checkpoint isn't where the runner believes it is
   */
  advance(name: Follower, held: Position, { events, position }: EventBatch): void {
    if (this.isChecked && this.checkpoint(name) !== held) throw new CheckpointMoved(name);
    this.#checkpoints.set(name, position);
    const stored = name === 'carried' ? [] : events.map(decodeOnce);
    if (name === 'resources') this.#takeCurrent(stored);
    if (name === 'history') this.#takeVersions(stored);
    if (name === 'search') this.#takeValues(stored);
  }

  /** Returns all rows, in an order that doesn't depend on how events were divided into batches. */
  rows(): unknown {
    const sorted = <V>(all: ReadonlyMap<string, V>) =>
      [...all].sort(([one], [other]) => (one < other ? -1 : 1));
    const search = sorted(this.search).map(([id, { version, keys }]) => [id, version, [...keys].sort()]);
    return { resources: sorted(this.resources), history: sorted(this.history), search };
  }

  #takeCurrent(events: readonly StoredEvent[]): void {
    for (const stored of events.filter(isResourceEvent)) {
      const { event, stream } = stored;
      const { resourceId: id, resourceType: type, version } = event;
      if (!isResourceType(type) || (this.resources.get(id)?.version ?? 0) >= version) continue;
      const body = event.type === 'ResourceDeleted' ? null : event.body;
      const { tenant } = readOwner(stored);
      this.resources.set(id, { id, tenant, type, stream, version, deleted: body === null, body });
    }
  }

  #takeVersions(events: readonly StoredEvent[]): void {
    for (const { event } of events.filter(isResourceEvent))
      this.history.set(event.resourceId, [...(this.history.get(event.resourceId) ?? []), event.version]);
  }

  #takeValues(events: readonly StoredEvent[]): void {
    for (const stored of events.filter(isResourceEvent)) {
      const { resourceId: id, version } = stored.event;
      if ((this.search.get(id)?.version ?? 0) < version)
        this.search.set(id, { version, keys: keysOn(stored) });
    }
  }
}

function keysOn(stored: StoredResourceEvent): ReadonlySet<string> {
  return new Set(
    String(atOnce(makeRows(stored)).entry.keys)
      .slice(1, -1)
      .split(','),
  );
}
