/** Resources of types that no client writes, stored as events of a project's directory. */
import { createHash } from 'node:crypto';
import { encode } from '#src/events/catalog.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore, Expected, NewEvent } from '#src/events/store.ts';
import { directoryStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import type { Environment, Tenant } from '#src/shared/tenant.ts';
import { nowMicros, toInstant } from '#src/shared/time.ts';
import type { InProcess } from '../in-process.ts';
import { eventually } from '../process.ts';
import { EVENTSTORE_URL } from '../project.ts';

/** One of them; `text` is its JSON without id and meta of the service's own. */
export interface TerminologyResource {
  readonly type: string;
  readonly id: string;
  readonly text: string;
}

/** Appends them to the directory of the service's first project, and waits until they can be read. */
export async function storeTerminology(
  service: InProcess,
  resources: readonly TerminologyResource[],
): Promise<void> {
  const tenant = await tenantOf(service);
  const stream = directoryStream(tenant);
  const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  try {
    const events = resources.map((resource, at) => created(resource, tenant, [at, resources.length]));
    await store.append(stream, await headOf(store, stream), events);
  } finally {
    await store.close();
  }
  const ids = resources.map(({ id }) => id);
  await eventually(async () => {
    const { rowCount } = await service.pool.query('select from search.entry where id = any($1)', [ids]);
    return rowCount === ids.length;
  });
}

async function tenantOf(service: InProcess): Promise<Tenant> {
  const hash = createHash('sha256').update(service.key).digest('hex');
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

function created({ type, id, text }: TerminologyResource, owner: Tenant, append: [number, number]): NewEvent {
  const body = JSON.parse(text) as { readonly meta?: object };
  const now = toInstant(nowMicros() + append[0]);
  const stored = { ...body, id, meta: { ...body.meta, versionId: '1', lastUpdated: now } };
  const event = {
    type: 'ResourceCreated' as const,
    resourceType: type,
    resourceId: id,
    version: 1,
    body: JSON.stringify(stored),
  };
  const metadata = {
    schema_version: 1,
    recorded_at: now,
    request_id: 'req_terminology',
    command_id: newUuid(),
    append,
    owner,
    credential: { kind: 'system' },
  };
  return { id: newUuid(), type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
}
