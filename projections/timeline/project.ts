/** The read model `timeline`: the places of resources in REST v1's lists. */
import type { ClientBase, QueryConfig } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { atOnce, inSlices, type Steps } from '#src/shared/load/slices.ts';
import { bucketNumber } from '#src/shared/time/time-bucket.ts';
import { erasedIn } from '../owner.ts';
import type { Projection } from '../projection.ts';
import { copyRows, type Row, recordset, runAll } from '../rows.ts';
import { type Entry, makeEntries } from './rows.ts';
import { ENTRY, PLACE, TALLY, tables } from './schema.ts';

const entry = recordset(ENTRY);
const place = recordset(PLACE);
const tally = recordset(TALLY);

/** Leaves out versions that already exist: `on conflict` would write each new row to PostgreSQL's log twice. */
const unlessKnown = (schema: string) => `
  left join lateral (select true as known from ${schema}.entry k where k.id = x.id and k.version = x.version offset 0) k on true
  where k.known is null`;

/**
 * Adds first versions and their places, and counts the new places. A version never changes: if a batch is repeated, all its
 * rows already exist, and nothing is counted.
 */
const add = (schema: string) => `
with added as materialized (
  select x.* from ${entry.from} ${unlessKnown(schema)}
), entries as (
  insert into ${schema}.entry (${entry.names}) select ${entry.names} from added
), placed as (
  insert into ${schema}.place (${place.names})
  select a.record, l.list, a.at, a.id, a.version, l.day, a.since, null::int8
  from added a cross join lateral (${listsSql('a')}) l
  returning record, list, at
), ${count(schema, 'placed', 1)}`;

/** Later versions. */
const addLater = (schema: string) => `
insert into ${schema}.entry (${entry.names}) select x.* from ${entry.from} ${unlessKnown(schema)}`;

/**
 * Selects later versions that differ from the previous version in their lists, in their positions in those lists, or in who
 * may see them; every other version keeps the previous version's place. Each version is looked up separately, and its places
 * are looked up by their keys, because without statistics the planner would scan whole tables for a batch.
 */
const moved = (schema: string) => `moved as materialized (
  select x.id, x.version, x.since, n as present, b as previous
  from json_to_recordset($1::json) as x(id uuid, version int, since int8)
  cross join lateral (select e.* from ${schema}.entry e where e.id = x.id and e.version = x.version offset 0) n
  left join lateral (select e.* from ${schema}.entry e where e.id = x.id and e.version = x.version - 1 offset 0) b on true
  where (n.at, n.day, n.last_day, n.lists, n.vague_lists, n.categories)
    is distinct from (b.at, b.day, b.last_day, b.lists, b.vague_lists, b.categories)
)`;

/** Inserts the places of moved versions. */
const movePlaces = (schema: string) => `
with ${moved(schema)}, placed as (
  insert into ${schema}.place (${place.names})
  select (m.present).record, l.list, (m.present).at, m.id, m.version, l.day, m.since, null::int8
  from moved m cross join lateral (${listsSql('(m.present)')}) l
  left join lateral (select true as known from ${schema}.place k
    where k.record = (m.present).record and k.list = l.list and k.at = (m.present).at and k.id = m.id and k.version = m.version
    offset 0) k on true
  where k.known is null
  returning record, list, at
), ${count(schema, 'placed', 1)}`;

/** Ends the previous places of moved versions. */
const endPlaces = (schema: string) => `
with ${moved(schema)}, vacated as materialized (
  select p.ctid as row, m.since
  from moved m cross join lateral (${listsSql('(m.previous)')}) l
  cross join lateral (select p.ctid, p.until from ${schema}.place p
    where p.record = (m.previous).record and p.list = l.list and p.at = (m.previous).at and p.id = m.id and p.version < m.version
    order by p.version desc limit 1) p
  where p.until is null
), ended as (
  update ${schema}.place p set until = o.since from vacated o where p.ctid = o.row
  returning p.record, p.list, p.at
), ${count(schema, 'ended', -1)}`;

/**
 * Adds places to the place counts, or subtracts them, depending on `sign`. Rows are looked up first, because `on conflict`
 * would lock each of them.
 */
function count(schema: string, places: string, sign: 1 | -1): string {
  return `counted as materialized (
  select d.*, t.ctid as row from (
    select record, list, ${stretchSql('at')} as stretch, ${sign} * count(*) as count from ${places} group by 1, 2, 3) d
  left join lateral (select t.ctid from ${schema}.tally t
    where t.record = d.record and t.list = d.list and t.stretch = d.stretch offset 0) t on true
), changed as (
  update ${schema}.tally t set count = t.count + c.count from counted c where t.ctid = c.row
)
insert into ${schema}.tally (${tally.names}) select ${tally.names} from counted where row is null`;
}

/** Returns SQL for an entry's lists, with the day of the entry's place in each list. */
function listsSql(of: string): string {
  return `select u.list, ${of}.day from unnest(${of}.lists) u(list)
    union all select v.list, ${of}.last_day from unnest(${of}.vague_lists) v(list)`;
}

/** Returns SQL for `bucketNumber`. */
function stretchSql(at: string): string {
  return `(${at} >> 41)::int`;
}

const insertTallies = (schema: string) => `
insert into ${schema}.tally as t (${tally.names}) select ${tally.values} from ${tally.from}
on conflict (record, list, stretch) do update set count = t.count + excluded.count`;

function* inSteps(schema: string, events: readonly StoredEvent[]): Steps<QueryConfig[]> {
  const entries = yield* makeEntries(events);
  const first = entries.filter(isFirst);
  const later = entries.filter((each) => !isFirst(each));
  return [
    ...(first.length === 0
      ? []
      : [{ name: `${schema}.add`, text: add(schema), values: [JSON.stringify(first)] }]),
    ...(later.length === 0
      ? []
      : [{ name: `${schema}.add-later`, text: addLater(schema), values: [JSON.stringify(later)] }]),
    ...move(schema, later),
    ...erase(schema, events),
  ];
}

/** Copies rows into empty tables, and counts their places in this process. */
async function load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void> {
  const entries = await inSlices(makeEntries(events));
  const places = entries.filter(isFirst).flatMap(listPlaces);
  await copyRows(tx, `${schema}.entry`, ENTRY, entries);
  await copyRows(tx, `${schema}.place`, PLACE, places);
  const counted = JSON.stringify([...countTallies(places).values()]);
  const tallies = { text: insertTallies(schema), values: [counted] };
  await runAll(tx, [
    ...(places.length === 0 ? [] : [tallies]),
    ...move(
      schema,
      entries.filter((each) => !isFirst(each)),
    ),
    ...erase(schema, events),
  ]);
}

type Place = Row<typeof PLACE> & Pick<Entry, 'record' | 'at'> & { readonly list: string };

function listPlaces(entry: Entry): Place[] {
  const { record, at, id, version, since, lists, vague_lists } = entry;
  const place = (list: string, day: number): Place => ({
    ...{ record, list, at, id, version, day, since, until: null },
  });
  return [
    ...lists.map((list) => place(list, entry.day)),
    ...(vague_lists ?? []).map((list) => place(list, entry.last_day)),
  ];
}

function countTallies(places: readonly Place[]): Map<string, Row<typeof TALLY>> {
  const counts = new Map<string, Row<typeof TALLY> & { readonly count: number }>();
  for (const { record, list, at } of places) {
    const stretch = bucketNumber(at);
    const key = `${record} ${list} ${stretch}`;
    counts.set(key, { record, list, stretch, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return counts;
}

function isFirst({ version }: Entry): boolean {
  return version === 1;
}

/** Moves later versions of entries that already exist. */
function move(schema: string, later: readonly Entry[]): QueryConfig[] {
  if (later.length === 0) return [];
  const values = [JSON.stringify(later.map(({ id, version, since }) => ({ id, version, since })))];
  return [
    { name: `${schema}.move`, text: movePlaces(schema), values },
    { name: `${schema}.end`, text: endPlaces(schema), values },
  ];
}

/** Removes any rows of the given records (the primary keys of place and tally begin with the record). */
function erase(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const patients = erasedIn(events);
  if (patients.length === 0) return [];
  const text = `
    with gone as (delete from ${schema}.place where record = any($1::uuid[]) returning id),
    counted as (delete from ${schema}.tally where record = any($1::uuid[]))
    delete from ${schema}.entry where id = any(array(select distinct id from gone))`;
  return [{ text, values: [patients] }];
}

/** Serves the timeline and lists of a patient's record. */
export const timeline: Projection = {
  name: 'timeline',
  version: 19,
  gathers: true,
  after: ['resources', 'history'],
  prefixes: ['record-', 'project-'],
  tables,
  indexes: () => '',
  compared: ['entry', 'place', 'tally'],
  statements: (schema, events) => atOnce(inSteps(schema, events)),
  inSteps,
  load,
};
