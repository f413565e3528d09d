/**
 * Finds a resource as of a place in the log: either the version before a deletion, or the version to which another resource
 * refers.
 */
import type { Pool } from 'pg';
import { isTableMissing } from '#src/database/failure.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { toMicros } from '#src/shared/time/time.ts';

/** A resource, or one of its versions. */
export interface Named {
  readonly type: string;
  readonly id: string;
  readonly version?: number;
}

/**
 * Returns a resource's JSON text as of the end of the append to which an event belongs. The text is from the named version, or
 * by default from the newest version that isn't a deletion. Returns undefined if the event's record has no such version.
 */
export type TextAsOf = (place: StoredEvent, named: Named) => Promise<string | undefined>;

// Indexes: primary key of history.version (id, version), backwards.
const NEWEST = `
select c.position >= $1 as passed, v.body
  from history.checkpoint c
  left join lateral (
    select n.body from history.version n
     where n.id = $2 and n.type = $3 and n.record = $4 and n.recorded_at <= $5 and n.body is not null
       and ($6::int is null or n.version = $6)
     order by n.version desc limit 1) v on true`;

/**
 * Creates the look-up. It reads from the read model `history`; if that hasn't reached the event yet, it reads the record's
 * stream backwards.
 */
export function openTextLookup(pool: Pool, store: Pick<EventStore, 'read'>): TextAsOf {
  return async (place, named) => {
    const record = recordPatient(place.stream);
    if (record === undefined) return undefined;
    const [index, count] = place.metadata.append;
    const later = count - 1 - index;
    const { type, id, version = null } = named;
    const at = toMicros(place.metadata.recorded_at) + later;
    const { rows } = await pool
      .query<{ passed: boolean; body: string | null }>({
        name: 'webhook-text-as-of',
        text: NEWEST,
        values: [place.position, id, type, record, at, version],
      })
      .catch((error: unknown) => {
        if (isTableMissing(error)) return { rows: [] };
        throw error;
      });
    const [row] = rows;
    if (row?.passed) return row.body ?? undefined;
    return inStream(store, place.stream, place.revision + later, named);
  };
}

/** @returns undefined if the version doesn't exist, or if the record has been purged */
async function inStream(
  store: Pick<EventStore, 'read'>,
  stream: string,
  from: number,
  { type, id, version }: Named,
): Promise<string | undefined> {
  try {
    for await (const recorded of store.read(stream, { from, direction: 'backwards' })) {
      if (recorded.type !== 'ResourceCreated' && recorded.type !== 'ResourceUpdated') continue;
      if (!recorded.data.includes(id)) continue;
      const { event } = understand(recorded);
      if (event.type !== 'ResourceCreated' && event.type !== 'ResourceUpdated') continue;
      if (event.resourceType !== type || event.resourceId !== id) continue;
      if (version === undefined || event.version === version) return event.body;
    }
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  return undefined;
}
