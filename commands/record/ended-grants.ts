/**
 * Reads the data about a record's grants that a purge keeps: ids, applications and dates, but no person
 * (docs/spec/decisions.md, section 9).
 */
import { CATALOG, type PlainEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';

/** Grants in the form used in `RecordErased`. */
export type EndedGrants = Extract<PlainEvent, { type: 'RecordErased' }>['data']['grants'];

/** Keeps a record's grants from when its stream is erased until `RecordErased` is written (`src/operations/erasing.ts`). */
export interface GrantsOfErased {
  keep(record: string, grants: EndedGrants): Promise<void>;
  /** Returns the stored grants; undefined if there are none. */
  kept(record: string): Promise<unknown>;
  done(record: string): Promise<void>;
}

const TOLD = new Set(['ConsentGranted', 'ConsentRevoked', 'ConsentExpired']);

/**
 * Returns all grants that a record ever had, all of which have ended, and stores them. If the stream is already erased,
 * returns the grants that an earlier run stored.
 */
export async function endedGrants(
  store: EventStore,
  erased: GrantsOfErased,
  record: string,
): Promise<EndedGrants> {
  try {
    const grants = await read(store, record);
    await erased.keep(record, grants);
    return grants;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
    return CATALOG.RecordErased.data.shape.grants.parse((await erased.kept(record)) ?? []);
  }
}

/** Reads the whole stream, which is about to be erased; decodes only events about grants. */
async function read(store: EventStore, record: string): Promise<EndedGrants> {
  const found = new Map<string, EndedGrants[number]>();
  for await (const recorded of store.read(recordStream(record))) {
    if (!TOLD.has(recorded.type)) continue;
    const { event, metadata } = understand(recorded);
    const at = metadata.recorded_at;
    if (event.type === 'ConsentGranted') {
      const { grant_id, application_id } = event.data;
      found.set(grant_id, { grant_id, application_id, granted_at: at, ended_at: at });
    } else if (event.type === 'ConsentRevoked' || event.type === 'ConsentExpired') {
      const grant = found.get(event.data.grant_id);
      if (grant !== undefined) grant.ended_at = at;
    }
  }
  return [...found.values()];
}
