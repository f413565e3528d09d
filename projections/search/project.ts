/** The read model `search`: the values by which the current versions of resources are searched. */
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import { atOnce, inSlices, type Steps } from '#src/shared/load/slices.ts';
import { erasedIn, isResourceEvent, type StoredResourceEvent } from '../owner.ts';
import type { Projection } from '../projection.ts';
import { type Columns, copyRows, type Row, recordset, runAll } from '../rows.ts';
import { compareTallies } from './compare-tallies.ts';
import { makeRows, type Rows } from './rows.ts';
import { ENTRY, indexes, PERIOD, QUANTITY, STRING, tables } from './schema.ts';
import { Tallies } from './tallies.ts';

/** The tables other than `entry`, each with its columns and the rows that a resource has in it. */
const VALUES = [
  { table: 'string', columns: STRING, of: (rows: Rows) => rows.strings },
  { table: 'period', columns: PERIOD, of: (rows: Rows) => rows.periods },
  { table: 'quantity', columns: QUANTITY, of: (rows: Rows) => rows.quantities },
] as const;

const entry = recordset(ENTRY);

/**
 * Looks up the entries' current rows and versions first. `on conflict` would write a second record for each to PostgreSQL's
 * log.
 */
const known = (schema: string) => `known as materialized (
  select x.*, e.held, e.row from ${entry.from}
  left join lateral (select e.version as held, e.ctid as row from ${schema}.entry e where e.id = x.id offset 0) e on true
)`;

/** Inserts a first version and its values, unless the resource already exists. */
const add = (schema: string) => `
with ${known(schema)}, fresh as (
  insert into ${schema}.entry (${entry.names}) select ${entry.names} from known where row is null returning id
), added as materialized (select array(select id from fresh) as ids)${VALUES.map(
  ({ table, columns }, n) => `,
${table}s as (
  insert into ${schema}.${table} (${names(columns)})
  select ${names(columns)} from ${recordset(columns, n + 2).from} where id = any((select ids from added)::uuid[])
)`,
).join('')}
select`;

/** Updates entries; an older version never replaces a newer one. */
const upsert = (schema: string) => `
with ${known(schema)}, changed as (
  update ${schema}.entry e set version = k.version, record = k.record, keys = k.keys, targets = k.targets, sorts = k.sorts
  from known k where e.ctid = k.row and k.version > k.held
)
insert into ${schema}.entry (${entry.names}) select ${entry.names} from known where row is null`;

/** Selects the resources whose given versions are now the current ones, each by its id: see `replace`. */
const current = (schema: string) => `current as materialized (
  select x.id, x.version from unnest($2::uuid[], $3::int[]) as x(id, version)
  cross join lateral (select e.version from ${schema}.entry e where e.id = x.id offset 0) e
  where e.version = x.version
)`;

/** Removes the rows of earlier versions, including their values (index entry_in). */
const emptied = (schema: string) => `
with ${current(schema)}, gone as (
  delete from ${schema}.entry where container = any(array(select id from current)) returning id
)${VALUES.map(
  ({ table }) => `, ${table}s as (
  delete from ${schema}.${table} where id = any(array(select id from gone)))`,
).join('')}
select $1::text`;

/** Inserts the resources that current versions contain, after `emptied` has run. */
const contain = (schema: string) => `
with ${current(schema)}
insert into ${schema}.entry (${entry.names})
select ${entry.values} from ${entry.from} where container = any(array(select id from current))`;

/**
 * Replaces the values of current versions, using the tables' indexes by id; values that stay the same keep their rows. Each id
 * is looked up separately, because without statistics the planner would scan whole tables for a batch. `not in` makes the
 * planner use a hash lookup; otherwise it would compare every pair.
 */
const replace = (schema: string, table: string, columns: Columns) => `
with ${current(schema)}, wanted as materialized (
  select x.*, x::text as value, row_number() over (partition by x::text) as nth
  from ${recordset(columns).from} where id = any(array(select id from current))
), stored as materialized (
  select t.ctid as row, t::text as value, row_number() over (partition by t::text) as nth
  from ${schema}.${table} t where t.id = any(array(select id from current))
), gone as (
  delete from ${schema}.${table} where ctid = any(array(
    select s.row from stored s where (s.value, s.nth) not in (select w.value, w.nth from wanted w)))
)
insert into ${schema}.${table} (${names(columns)})
select ${names(columns)} from wanted w where (w.value, w.nth) not in (select s.value, s.nth from stored s)`;

function names(columns: Columns): string {
  return Object.keys(columns).join(', ');
}

function* inSteps(schema: string, events: readonly StoredEvent[], tallies?: Tallies): Steps<QueryConfig[]> {
  const all = yield* lastVersions(events);
  const merging = yield* merge(schema, all);
  if (tallies === undefined) return [...merging, ...erase(schema, events)];
  return [
    ...tallies.change(schema, all),
    ...merging,
    ...tallies.takeOff(schema, events),
    ...erase(schema, events),
  ];
}

/** Resources that were created in the batch can't be in the tables yet, so they are written with COPY. */
async function load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void> {
  const created = new Set(
    events.filter(isResourceEvent).flatMap(({ event }) => (event.version === 1 ? [event.resourceId] : [])),
  );
  const all = await inSlices(lastVersions(events));
  const fresh = all.filter(({ entry: { id } }) => created.has(id));
  await copyRows(
    tx,
    `${schema}.entry`,
    ENTRY,
    fresh.flatMap((rows) => [rows.entry, ...rows.contained]),
  );
  for (const { table, columns, of } of VALUES) {
    await copyRows(tx, `${schema}.${table}`, columns as Columns, fresh.flatMap<Row<Columns>>(of));
  }
  const others = all.filter(({ entry: { id } }) => !created.has(id));
  await runAll(tx, [...(await inSlices(merge(schema, others))), ...erase(schema, events)]);
}

/** Returns the rows for each resource's newest version in the batch. */
function* lastVersions(events: readonly StoredEvent[]): Steps<Rows[]> {
  const last = new Map<string, StoredResourceEvent>();
  for (const stored of events) {
    if (!isResourceEvent(stored)) continue;
    const before = last.get(stored.event.resourceId);
    if (before === undefined || before.event.version < stored.event.version) {
      last.set(stored.event.resourceId, stored);
    }
  }
  const all: Rows[] = [];
  for (const stored of last.values()) all.push(yield* makeRows(stored));
  return all;
}

/** Yields statements for resources that may already exist. Tables without old or new rows are skipped. */
function* merge(schema: string, all: readonly Rows[]): Steps<QueryConfig[]> {
  const [fresh, others] = [all.filter(isFirst), all.filter((rows) => !isFirst(rows))];
  return [...(yield* added(schema, fresh)), ...(yield* replaced(schema, others))];
}

/** Returns true if a resource can't have earlier rows. A resource that contains other resources is always replaced. */
function isFirst({ entry: { version }, contained }: Rows): boolean {
  return version === 1 && contained.length === 0;
}

function* added(schema: string, all: readonly Rows[]): Steps<QueryConfig[]> {
  if (all.length === 0) return [];
  const values = [yield* stringifyRows(all.map((rows) => rows.entry))];
  for (const { of } of VALUES) values.push(yield* stringifyRows(all.flatMap<Row<Columns>>(of)));
  return [{ name: `${schema}.add`, text: add(schema), values }];
}

/** A resource has only one current version, so its rows belong to that version or to none. */
function* replaced(schema: string, all: readonly Rows[]): Steps<QueryConfig[]> {
  if (all.length === 0) return [];
  const entries = yield* stringifyRows(all.map((rows) => rows.entry));
  const containers = listIds(all.map((rows) => rows.entry));
  const contained = all.flatMap((rows) => rows.contained);
  const whole = listIds([...all.map((rows) => rows.entry), ...contained]);
  const statements: QueryConfig[] = [
    { name: `${schema}.entry`, text: upsert(schema), values: [entries] },
    { name: `${schema}.emptied`, text: emptied(schema), values: ['', ...containers] },
  ];
  if (contained.length > 0) {
    const values = [yield* stringifyRows(contained), ...containers];
    statements.push({ name: `${schema}.contain`, text: contain(schema), values });
  }
  for (const { table, columns, of } of VALUES) {
    const values = [yield* stringifyRows(all.flatMap<Row<Columns>>(of)), ...whole];
    statements.push({ name: `${schema}.${table}`, text: replace(schema, table, columns), values });
  }
  return statements;
}

/** Number of rows to serialize as JSON in one step. */
const STEP = 1_000;

/** Returns rows in the form that `json_to_recordset` accepts. */
function* stringifyRows(rows: readonly object[]): Steps<string> {
  if (rows.length <= STEP) return JSON.stringify(rows);
  const parts: string[] = [];
  for (let from = 0; from < rows.length; from += STEP) {
    parts.push(JSON.stringify(rows.slice(from, from + STEP)).slice(1, -1));
    yield;
  }
  return `[${parts.join()}]`;
}

/** Returns the parameters `$2` and `$3`: ids and versions. */
function listIds(
  entries: readonly { readonly id: string; readonly version: number }[],
): [string[], number[]] {
  return [entries.map(({ id }) => id), entries.map(({ version }) => version)];
}

/** Removes any rows of the given records (index entry_keys). */
function erase(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const patients = erasedIn(events);
  if (patients.length === 0) return [];
  const keys = patients.map((patient) => searchKey(recordKey(patient)));
  const gone = `delete from ${schema}.entry where keys && $1::int8[] and record = any($2::uuid[]) returning id`;
  const text = `with gone as (${gone}),
    ${VALUES.map(({ table }) => `${table}s as (delete from ${schema}.${table} where id in (select id from gone))`).join()}
    select 1`;
  return [{ text, values: [keys, patients] }];
}

/** Serves searches by resource values. */
export const search: Projection = {
  name: 'search',
  version: 12,
  gathers: true,
  after: ['resources', 'history'],
  prefixes: ['record-', 'directory-', 'project-'],
  tables,
  indexes,
  compared: ['entry', 'string', 'period', 'quantity'],
  statements: (schema, events) => atOnce(inSteps(schema, events)),
  inSteps: (schema, events) => inSteps(schema, events),
  keep: (session, databaseUrl) => Tallies.open(session, databaseUrl, inSteps),
  compareKept: compareTallies,
  load,
};
