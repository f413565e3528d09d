/** The read model `timeline`: the place of each version of a resource in the lists of REST v1. */
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

/**
 * Versions, their places, and how many places there are more. A version never changes: if a batch comes again, all its
 * rows exist, and nothing is counted.
 */
const add = (schema: string) => `
with added as materialized (
  select ${entry.names} from ${entry.from}
), entries as (
  insert into ${schema}.entry (${entry.names}) select ${entry.names} from added
  on conflict (id, version) do nothing
), fresh as (
  insert into ${schema}.place (${place.names})
  select a.record, l.list, a.at, a.id, a.version, l.day, a.since, null::int8
  from added a cross join lateral (${listsSql('a')}) l
  on conflict (record, list, at, id, version) do nothing returning record, list, at
)
insert into ${schema}.tally as t (${tally.names})
select f.record, f.list, ${stretchSql('f.at')}, count(*) from fresh f group by 1, 2, 3
on conflict (record, list, stretch) do update set count = t.count + excluded.count`;

/**
 * Ends the places of earlier versions. Each version is looked up separately, and its places by their keys: without
 * statistics the planner would scan whole tables for a batch.
 */
const endPlaces = (schema: string) => `
with ended as (
  insert into ${schema}.place as p (${place.names})
  select e.record, l.list, e.at, x.id, e.version, l.day, e.since, x.since
  from json_to_recordset($1::json) as x(id uuid, version int, since int8)
  cross join lateral (
    select e.record, e.at, e.version, e.since, e.day, e.last_day, e.lists, e.vague_lists from ${schema}.entry e
    where e.id = x.id and e.version = x.version - 1 offset 0) e
  cross join lateral (${listsSql('e')}) l
  on conflict (record, list, at, id, version) do update set until = excluded.until
  where p.until is null returning record, list, at
)
insert into ${schema}.tally as t (${tally.names})
select d.record, d.list, ${stretchSql('d.at')}, -count(*) from ended d group by 1, 2, 3
on conflict (record, list, stretch) do update set count = t.count + excluded.count`;

/** Returns the lists of an entry with the day of its place in each, as SQL. */
function listsSql(of: string): string {
  return `select u.list, ${of}.day from unnest(${of}.lists) u(list)
    union all select v.list, ${of}.last_day from unnest(${of}.vague_lists) v(list)`;
}

/** Returns `bucketNumber` as SQL. */
function stretchSql(at: string): string {
  return `(${at} >> 41)::int`;
}

const insertTallies = (schema: string) => `
insert into ${schema}.tally as t (${tally.names}) select ${tally.values} from ${tally.from}
on conflict (record, list, stretch) do update set count = t.count + excluded.count`;

function* inSteps(schema: string, events: readonly StoredEvent[]): Steps<QueryConfig[]> {
  const entries = yield* makeEntries(events);
  if (entries.length === 0) return erase(schema, events);
  return [
    { name: `${schema}.add`, text: add(schema), values: [JSON.stringify(entries)] },
    ...end(schema, entries),
    ...erase(schema, events),
  ];
}

/** Copies rows into empty tables, and counts them here. */
async function load(tx: ClientBase, schema: string, events: readonly StoredEvent[]): Promise<void> {
  const entries = await inSlices(makeEntries(events));
  const places = entries.flatMap(listPlaces);
  await copyRows(tx, `${schema}.entry`, ENTRY, entries);
  await copyRows(tx, `${schema}.place`, PLACE, places);
  const counted = JSON.stringify([...countTallies(places).values()]);
  const tallies = { text: insertTallies(schema), values: [counted] };
  await runAll(tx, [
    ...(places.length === 0 ? [] : [tallies]),
    ...end(schema, entries),
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

function end(schema: string, entries: readonly Entry[]): QueryConfig[] {
  const later = entries.filter(({ version }) => version > 1);
  if (later.length === 0) return [];
  const rows = later.map(({ id, version, since }) => ({ id, version, since }));
  return [{ name: `${schema}.end`, text: endPlaces(schema), values: [JSON.stringify(rows)] }];
}

/** Removes records (primary keys of place and tally begin with the record), whatever of them had come. */
function erase(schema: string, events: readonly StoredEvent[]): QueryConfig[] {
  const patients = erasedIn(events);
  if (patients.length === 0) return [];
  const text = `
    with gone as (delete from ${schema}.place where record = any($1::uuid[]) returning id),
    counted as (delete from ${schema}.tally where record = any($1::uuid[]))
    delete from ${schema}.entry where id = any(array(select distinct id from gone))`;
  return [{ text, values: [patients] }];
}

/** Serves the timeline and the lists of a patient's record. */
export const timeline: Projection = {
  name: 'timeline',
  version: 14,
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
