/** The read model `resources`: events → the current version of each resource. */
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { erasedIn, isResourceEvent, readOwner, readSight } from '../owner.ts';
import type { Projection } from '../projection.ts';
import { copyRows, parameters, type Row, recordset, runAll } from '../rows.ts';
import { indexes, RESOURCE, tables } from './schema.ts';

/** A resource's last state in a batch; `fresh` if the batch also contains its creation. */
interface State {
  readonly row: Row<typeof RESOURCE> & { readonly id: string; readonly version: number };
  readonly fresh: boolean;
}

const resource = recordset(RESOURCE);
const BODY = recordset({ body: RESOURCE.body }).values;

/**
 * Writes current versions. Looks them up first and then inserts or updates them, because `on conflict` would write a second
 * record for each to PostgreSQL's log. `created_at` remains that of the first version; a deleted version keeps the columns
 * that determine who sees it; an older version never replaces a newer one.
 */
const upsert = (schema: string) => `
with known as materialized (
  select x.*, r.held, r.row from ${resource.from}
  left join lateral (select r.version as held, r.ctid as row from ${schema}.resource r where r.id = x.id offset 0) r on true
), changed as (
  update ${schema}.resource r set
    type = k.type, tenant = k.tenant, record = k.record, version = k.version, last_updated = k.last_updated,
    deleted = k.deleted, stream = k.stream, body = ${BODY},
    categories = case when k.deleted then coalesce(k.categories, r.categories) else k.categories end,
    targets = case when k.deleted then coalesce(k.targets, r.targets) else k.targets end
  from known k where r.ctid = k.row and k.version > k.held
)
insert into ${schema}.resource (${resource.names}) select ${resource.values} from known where row is null`;

/** Inserts first versions. An existing version stays unchanged. */
const add = (schema: string) => `
insert into ${schema}.resource (${resource.names}) select ${resource.values} from ${resource.from}
left join lateral (select true as known from ${schema}.resource r where r.id = x.id offset 0) r on true
where r.known is null`;

function statements(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  return [...merge(schema, [...lastStates(events).values()]), ...erase(schema, events)];
}

/** Resources that were created in the batch can't be in the table yet, so they are written with COPY. */
async function load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void> {
  const states = [...lastStates(events).values()];
  const fresh = states.filter((state) => state.fresh);
  const rows = fresh.map(({ row }) => row);
  await copyRows(tx, `${schema}.resource`, RESOURCE, rows);
  const others = states.filter((state) => !state.fresh);
  await runAll(tx, [...merge(schema, others), ...erase(schema, events)]);
}

/** Returns each resource's newest version in the batch. */
function lastStates(events: readonly StoredEvent[]): Map<string, State> {
  const states = new Map<string, State>();
  for (const stored of events) {
    if (!isResourceEvent(stored)) continue;
    const { event, stream } = stored;
    const before = states.get(event.resourceId);
    if (before !== undefined && before.row.version >= event.version) continue;
    const at = toMicros(stored.metadata.recorded_at);
    const row = {
      id: event.resourceId,
      type: event.resourceType,
      ...readOwner(stored),
      version: event.version,
      created_at: before === undefined ? at : before.row.created_at,
      last_updated: at,
      deleted: event.type === 'ResourceDeleted',
      stream,
      ...(readSight(event) ?? {
        categories: before?.row.categories ?? null,
        targets: before?.row.targets ?? null,
      }),
      body: event.type === 'ResourceDeleted' ? null : event.body,
    };
    states.set(row.id, { row, fresh: before?.fresh === true || event.type === 'ResourceCreated' });
  }
  return states;
}

/**
 * Returns statements for resources that may already be in the table. First versions, of which there are many, use the faster
 * statement.
 */
function merge(schema: string, states: readonly State[]): QueryConfig[] {
  const rows = states.map(({ row }) => row);
  const [first, later] = [rows.filter(isFirst), rows.filter((row) => !isFirst(row))];
  return [
    ...(first.length === 0
      ? []
      : [{ name: `${schema}.add`, text: add(schema), values: parameters(RESOURCE, first) }]),
    ...(later.length === 0
      ? []
      : [{ name: `${schema}.upsert`, text: upsert(schema), values: parameters(RESOURCE, later) }]),
  ];
}

function isFirst({ version }: State['row']): boolean {
  return version === 1;
}

/**
 * Removes records (index resource_of_record). If a record's stream was removed while it was being read, only some of its
 * events may have arrived, so whatever exists is deleted.
 */
function erase(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const patients = erasedIn(events);
  if (patients.length === 0) return [];
  return [{ text: `delete from ${schema}.resource where record = any($1::uuid[])`, values: [patients] }];
}

/** Serves reads by id, and the bodies of search results. */
export const resources: Projection = {
  name: 'resources',
  version: 5,
  transaction: 'versions',
  prefixes: ['record-', 'directory-', 'project-'],
  tables,
  indexes,
  compared: ['resource'],
  statements,
  load,
};
