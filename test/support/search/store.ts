/** Stores resources as events, unchanged: resources that clients can't write, and resources that were never validated. */
import { createHash } from 'node:crypto';
import { encode } from '#src/events/codec.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore, Expected, NewEvent } from '#src/events/store.ts';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { publishTerminology } from '#src/terminology/read-models.ts';
import type { InProcess } from '../in-process.ts';
import { eventually } from '../process.ts';
import { EVENTSTORE_URL } from '../project.ts';

/** A resource to store. */
export interface StoredResource {
  readonly type: string;
  readonly id: string;
  /** The patient whose record the resource is in; undefined for the directory. */
  readonly record?: string | undefined;
  /** JSON without id, version and time. */
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Appends the resources to a key's project, and waits until searches find them. Terminology resources replace the bundled
 * resources.
 */
export async function storeResources(
  service: InProcess,
  key: string,
  all: readonly StoredResource[],
): Promise<void> {
  await storeTerminology(service, key, all.filter(isTerminology));
  const resources = all.filter((resource) => !isTerminology(resource));
  const tenant = await tenantOf(service, key);
  const streams = new Map<string, StoredResource[]>();
  for (const resource of resources) {
    const stream = resource.record === undefined ? directoryStream(tenant) : recordStream(resource.record);
    streams.set(stream, [...(streams.get(stream) ?? []), resource]);
  }
  const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  try {
    for (const [stream, own] of streams) {
      const events = own.map((resource, at) => created(resource, tenant, [at, own.length]));
      await store.append(stream, await headOf(store, stream), events);
    }
  } finally {
    await store.close();
  }
  const ids = resources.map(({ id }) => id);
  const shown = 'select from search.entry e join resources.resource r using (id) where id = any($1)';
  await eventually(async () => {
    const { rowCount } = await service.pool.query(shown, [ids]);
    return rowCount === ids.length;
  }, 60_000);
}

function isTerminology({ type }: StoredResource): boolean {
  return isResourceType(type) && typeEntry(type).home === 'terminology';
}

async function storeTerminology(
  service: InProcess,
  key: string,
  resources: readonly StoredResource[],
): Promise<void> {
  if (resources.length === 0) return;
  // The first search installs the bundled terminology.
  await service.fhir('/CodeSystem?_count=0', { key });
  await service.pool.query('delete from terminology.resource where not loaded');
  for (const { type, id, body } of resources) {
    const now = nowMicros();
    const meta = { ...(body.meta as object | undefined), versionId: '1', lastUpdated: toInstant(now) };
    await service.pool.query(
      'insert into terminology.resource (id, type, url, loaded, changed_at, body) values ($1, $2, $3, true, $4, $5)',
      [id, type, `urn:uuid:${id}`, now, JSON.stringify({ ...body, resourceType: type, id, meta })],
    );
  }
  await publishTerminology(service.pool);
}

async function tenantOf(service: InProcess, key: string): Promise<Tenant> {
  const hash = createHash('sha256').update(key).digest('hex');
  const { rows } = await service.pool.query<{ project: string; environment: Environment }>(
    'select project, environment from projects.api_key where sha256 = $1',
    [hash],
  );
  const [tenant] = rows;
  if (tenant === undefined) throw new Error('the key is not known');
  return tenant;
}

async function headOf(store: EventStore, stream: string): Promise<Expected> {
  for await (const { revision, metadata } of store.read(stream, { direction: 'backwards', limit: 1 })) {
    return { revision, hash: parseMetadata(metadata).hash ?? '' };
  }
  return 'none';
}

function created(resource: StoredResource, owner: Tenant, append: [number, number]): NewEvent {
  const { type, id, body } = resource;
  const now = toInstant(nowMicros() + append[0]);
  const meta = { ...(body.meta as object | undefined), versionId: '1', lastUpdated: now };
  const event = {
    type: 'ResourceCreated' as const,
    resourceType: type,
    resourceId: id,
    version: 1,
    body: JSON.stringify({ ...body, resourceType: type, id, meta }),
  };
  const metadata = {
    schema_version: 1,
    recorded_at: now,
    request_id: 'req_stored',
    command_id: newUuid(),
    append,
    owner,
    credential: { kind: 'system' },
  };
  return { id: newUuid(), type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
}
