/**
 * The state that decisions about versioned resources, grants and links need: ids, versions and status of a stream, no
 * bodies.
 */
import type { DomainEvent } from '#src/events/catalog.ts';
import type { EventOf } from '#src/events/kinds.ts';
import type { Entry } from '../command.ts';
import type { Fold } from '../kernel/stream.ts';
import { consentEntriesIn } from './consent-entries.ts';

/**
 * The loaded state of a record or directory; partial when it was built from a snapshot
 * (docs/decisions/0002-snapshots-by-row.md).
 */
export interface Resources {
  readonly stream: string;
  /**
   * Every id that was requested, or written since the snapshot; `null`: doesn't exist. Grants and links have keys of
   * their own (`consent-entries.ts`).
   */
  readonly entries: Map<string, Entry | null>;
  /** True if every id that `entries` lacks doesn't exist. */
  isComplete: boolean;
  /** The revision of the newest snapshot; -1 without one. */
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
  sizeOf: ({ entries }) => 100 + entries.size * 180,
};

/** Returns the entries that an event changes, by key, as they are after it; none for events of other streams. */
export function entriesIn(event: DomainEvent, revision: number): readonly (readonly [string, Entry])[] {
  switch (event.type) {
    case 'ResourceCreated':
    case 'ResourceUpdated':
    case 'ResourceDeleted':
      return [[event.resourceId, resourceEntry(event, revision)]];
    case 'RecordLinked':
    case 'RecordUnlinked':
    case 'ConsentGranted':
    case 'ConsentRevoked':
    case 'ConsentExpired':
      return consentEntriesIn(event, revision);
    default:
      event satisfies Exclude<DomainEvent, EventOf<'record' | 'directory'>> | Unkept;
      return [];
  }
}

/** Events of records that no decision looks back at. */
type Unkept = Extract<DomainEvent, { type: 'DocumentFinalized' | 'DirectoryEntriesCarried' }>;

function resourceEntry({ type, ...event }: EventOf<'directory'>, revision: number): Entry {
  return { type: event.resourceType, version: event.version, deleted: type === 'ResourceDeleted', revision };
}

/**
 * Returns the entry of a live or deleted resource, undefined if it never existed. The id must have been
 * loaded.
 */
export function entryOf({ entries }: Readonly<Resources>, id: string): Entry | undefined {
  return entries.get(id) ?? undefined;
}
