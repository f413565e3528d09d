/**
 * The statements that give a page of a search. Each stands by itself whatever the planner believes of the tables: no
 * table has statistics when it is new. What leads to what is said by `offset 0`, laterals and arrays.
 */
import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../binds.ts';
import { after, direction, type Last, type OrderKey, orderBy, sortValue, sortValueAt } from './order.ts';
import { checksOf } from './predicate.ts';
import {
  conditionOf,
  matchesAmong,
  matchesOf,
  ownedBy,
  rowsOf,
  type Selection,
  type Source,
} from './selection.ts';

/** Which rows of an ordered selection. */
export interface Wanted {
  readonly selection: Selection;
  readonly order: readonly OrderKey[];
  /** At most so many. */
  readonly limit: number;
  /** The row before the first one. */
  readonly last?: Last;
  /** Sorted by `_lastUpdated` alone: as it was at this moment. */
  readonly made?: Micros;
  readonly total: boolean;
}

/** All matches of a source, sorted; with `most`, nothing but `over` when it has more rows than that. */
export function candidates(
  wanted: Wanted,
  source: Source | undefined,
  most: number | undefined,
  binds: Binds,
): string {
  const { selection, order, total } = wanted;
  const updated = order.some(({ by }) => by === '_lastUpdated');
  const few = most === undefined ? 'true' : `(select count(*) from s) <= ${most}`;
  const matches =
    source === undefined ? matchesOf(selection, binds) : matchesAmong('s', source, selection, updated, binds);
  const rows =
    source === undefined
      ? ''
      : `s as materialized (${rowsOf(source, most === undefined ? undefined : most + 1, binds)}),`;
  const head = `with ${rows} c as materialized (select m.id, m.last_updated from (${matches}) m where ${few})`;
  return framed(
    wanted,
    head,
    { total: total ? 'select count(*) from c' : undefined, over: `not (${few})` },
    sorted(wanted, binds),
    binds,
  );
}

/** The total of a selection. */
export function total(selection: Selection, source: Source | undefined, binds: Binds): string {
  if (source === undefined) {
    return `select count(*) from resources.resource r where ${conditionOf(selection, binds)}`;
  }
  const rows = `(${rowsOf(source, undefined, binds)})`;
  return `select count(*) from (${matchesAmong(rows, source, selection, false, binds)}) m`;
}

/** Rows of `c` (id, last_updated), sorted. */
function sorted({ order, limit, last, made }: Wanted, binds: Binds): string {
  const values = order.map(
    (key, n) => `${made === undefined ? sortValue(key, binds) : sortValueAt(made, binds)} as k${n}`,
  );
  const conditions = [
    ...(made === undefined ? [] : ['k0 is not null']),
    ...(last === undefined ? [] : [`(${after(order, last, binds)})`]),
  ];
  return `select k.* from (select c.id, ${values.join(', ')} from c offset 0) k
    ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    order by ${orderBy(order)} limit ${limit}`;
}

/** The whole statement around a page: its resources, and what is said of all. */
export function framed(
  { selection, order }: Wanted,
  head: string,
  all: { readonly total: string | undefined; readonly over: string },
  rows: string,
  binds: Binds,
): string {
  const keys = order.map((_, n) => `p.k${n}::text`);
  return `${head}
    select t.total, t.over, p.id as place, array[${keys.join(', ')}] as keys, r.version, r.last_updated, r.body
    from (select ${all.total === undefined ? 'null::int8' : `(${all.total})`} as total, ${all.over} as over) t
    left join (${rows}) p on true
    left join lateral (
      select r.version, r.last_updated, r.body from resources.resource r
      where r.id = p.id and ${ownedBy(selection, true, binds)} offset 0) r on true
    order by ${orderBy(order, 'p.')}`;
}

/**
 * A walk over resources in the order of their ids or of `_lastUpdated`: indexes resources.resource_by_id,
 * resource_of_tenant, or, where the selection says so, what leads to its rows.
 * @param most how many resources are looked at.
 */
export function resourceWalk(
  wanted: Wanted,
  totalOf: string | undefined,
  most: number | undefined,
  binds: Binds,
): string {
  const { selection, order, limit, last, made } = wanted;
  const [key] = order;
  if (key === undefined) throw new Error('an order without keys');
  const column = key.by === '_id' ? 'r.id' : 'r.last_updated';
  const by = `order by ${column} ${direction(key)}${key.by === '_id' ? '' : `, r.id ${direction(key)}`}`;
  const beyond = last === undefined ? '' : `and ${beyondLast(key, last, binds)}`;
  const upper = made === undefined ? undefined : binds.add(made, 'int8');
  const until = upper === undefined ? '' : `and r.last_updated <= ${upper}`;
  const walked =
    most === undefined
      ? `select r.id, ${column} as k0 from resources.resource r
         where ${conditionOf(selection, binds)} ${until} ${beyond} ${by} limit ${limit}`
      : `select r.id, ${column} as k0 from (
           select r.id, r.record, r.last_updated, r.tenant, r.type, r.deleted from resources.resource r
           where ${ownedBy(selection, false, binds)} ${until} ${beyond} ${by} limit ${most}) r
         where ${checksOf(selection.predicates, binds)} limit ${limit}`;
  const rows =
    upper === undefined || last === undefined
      ? walked
      : // What was written since the first page was made keeps the place it had then (its version of that moment, by
        // the primary key of history.version), so that nothing moves over a page's border and is missed or shown twice.
        `select u.id, u.k0 from ((${walked}) union all (
           select h.id, h.k0 from (
             select r.id, ${sortValueAt(made ?? 0, binds, 'r')} as k0 from resources.resource r
             where ${conditionOf(selection, binds)} and r.last_updated > ${upper} offset 0) h
           where h.k0 is not null and ${after(order, last, binds)})) u
         order by ${orderBy(order)} limit ${limit}`;
  return framed(wanted, '', { total: totalOf, over: 'false' }, rows, binds);
}

function beyondLast({ by, descending }: OrderKey, { keys, id }: Last, binds: Binds): string {
  const sign = descending ? '<' : '>';
  if (by === '_id') return `r.id ${sign} ${binds.add(id, 'uuid')}`;
  return `(r.last_updated, r.id) ${sign} (${binds.add(keys[0] ?? '', 'int8')}, ${binds.add(id, 'uuid')})`;
}
