/**
 * The state that decisions about versioned resources, grants and links need: ids, versions and status of a stream, no
 * bodies.
 */

import { type Entry, entriesIn } from '#src/events/snapshot-entries.ts';
import type { EventOf } from '#src/events/streams.ts';
import type { Fold } from '../kernel/kernel.ts';

/**
 * The loaded state of a record or directory; partial when it was built from a snapshot
 * (docs/decisions/0002-snapshots-by-row.md).
 */
export interface Resources {
  readonly stream: string;
  /**
   * Every id that was requested, or written since the snapshot; `null`: doesn't exist. Grants and links have their own
   * keys (`src/events/snapshot-entries.ts`).
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
  estimateSize: ({ entries }) => 100 + entries.size * 180,
};

/**
 * Returns the entry of a live or deleted resource, undefined if it never existed. The id must have been
 * loaded.
 */
export function findEntry({ entries }: Readonly<Resources>, id: string): Entry | undefined {
  return entries.get(id) ?? undefined;
}
