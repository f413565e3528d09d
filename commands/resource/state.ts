/** The state that decisions about versioned resources need: ids, versions and status of a stream, no bodies. */
import type { EventOf } from '#src/events/kinds.ts';
import type { Entry } from '../command.ts';
import type { Fold } from '../kernel/stream.ts';

/** What is known of a record or directory; partial when it grew from a snapshot (docs/decisions/0002-snapshots-by-row.md). */
export interface Resources {
  readonly stream: string;
  /** Every id that was asked for, or written since the snapshot; `null`: known not to exist. */
  readonly entries: Map<string, Entry | null>;
  /** Whether an id that `entries` lacks does not exist. */
  isComplete: boolean;
  /** Of the newest snapshot; -1 without one. */
  snapshotRevision: number;
}

/** The fold of records and directories. */
export const RESOURCES: Fold<Resources, EventOf<'record' | 'directory'>> = {
  name: 'resources',
  kinds: ['record', 'directory'],
  initial: (stream) => ({ stream, entries: new Map(), isComplete: true, snapshotRevision: -1 }),
  evolve({ entries }, event, revision) {
    switch (event.type) {
      case 'ResourceCreated':
      case 'ResourceUpdated':
      case 'ResourceDeleted':
        entries.set(event.resourceId, entryIn(event, revision));
        break;
      case 'DocumentFinalized':
      case 'DirectoryEntriesCarried':
        break;
      default:
        event satisfies never;
    }
  },
  sizeOf: ({ entries }) => 100 + entries.size * 180,
};

/** A resource as an event leaves it. */
export function entryIn({ type, ...event }: EventOf<'directory'>, revision: number): Entry {
  return { type: event.resourceType, version: event.version, deleted: type === 'ResourceDeleted', revision };
}

/** A live or deleted resource, undefined when it never was. The id must have been loaded. */
export function entryOf({ entries }: Readonly<Resources>, id: string): Entry | undefined {
  return entries.get(id) ?? undefined;
}
