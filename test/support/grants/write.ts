/** Writes versions to a running service's log, with given ids and times. */
import type { Pool } from 'pg';
import { CATALOG, type DomainEvent } from '#src/events/catalog.ts';
import { encode } from '#src/events/codec.ts';
import type { EventStore, NewEvent } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { eventually } from '../process.ts';
import type { Version, World } from './world.ts';

/** Returns when a version was written, and its event's id. */
export type Stamps = (version: Version) => { readonly at: Micros; readonly id: string };

/** Appends versions to a record. */
export async function writeRecord(
  store: EventStore,
  owner: Tenant,
  record: string,
  versions: readonly Version[],
  stamps: Stamps,
): Promise<void> {
  await store.append(
    recordStream(record),
    'none',
    versions.map((each) => eventOf(each, owner, stamps)),
  );
}

/** Appends entries to the directory. */
export async function writeDirectory(
  store: EventStore,
  owner: Tenant,
  versions: readonly Version[],
  stamps: Stamps,
): Promise<void> {
  await store.append(
    directoryStream(owner),
    'none',
    versions.map((each) => eventOf(each, owner, stamps)),
  );
}

/** Appends a whole world: the directory and the records. */
export async function writeWorld(
  store: EventStore,
  owner: Tenant,
  world: World,
  stamps: Stamps,
): Promise<void> {
  await writeDirectory(store, owner, world.directory, stamps);
  for (const [record, versions] of Object.entries(world.records))
    await writeRecord(store, owner, record, versions, stamps);
}

/** Waits until a service's read models show the appended versions. */
export async function untilShown(pool: Pool, versions: readonly Version[]): Promise<void> {
  const ids = [...new Set(versions.map(({ id }) => id))];
  const sql = `select (select count(*) from history.version v where v.id = any($1::uuid[]))::int as versions,
    (select count(*) from resources.resource r where r.id = any($1::uuid[]))::int as resources`;
  await eventually(async () => {
    const { rows } = await pool.query<{ versions: number; resources: number }>(sql, [ids]);
    return rows[0]?.versions === versions.length && rows[0].resources === ids.length;
  });
}

/** Returns every version of a world. */
export function versionsOf(world: World): Version[] {
  return [...world.directory, ...Object.values(world.records).flat()];
}

function eventOf(version: Version, owner: Tenant, stamps: Stamps): NewEvent {
  const { at, id } = stamps(version);
  const event = domainEvent(version, at);
  const metadata = {
    schema_version: CATALOG[event.type].version,
    recorded_at: toInstant(at),
    request_id: 'req_made',
    command_id: id,
    append: [0, 1],
    owner,
    credential: { kind: 'system' },
    author: { type: 'import' },
  };
  return { id, type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
}

function domainEvent({ type, id, version, body }: Version, at: Micros): DomainEvent {
  const named = { resourceType: type, resourceId: id, version };
  if (body === null) return { type: 'ResourceDeleted', ...named };
  const meta = { versionId: String(version), lastUpdated: toInstant(at) };
  const text = JSON.stringify({ resourceType: type, id, meta, ...body });
  return { type: version === 1 ? 'ResourceCreated' : 'ResourceUpdated', ...named, body: text } as DomainEvent;
}
