/**
 * Builds the statements for a page of a search. Their plans don't depend on statistics, because new tables have no statistics:
 * `offset 0`, laterals and arrays fix the join order.
 */
import type { Micros } from '#src/shared/time/time.ts';
import { asJson, type Binds, joinedColumns, joinedRows } from '../../database/binds.ts';
import { bodyOrSize } from '../../read.ts';
import {
  after,
  conditionsOn,
  direction,
  type Last,
  type OrderKey,
  orderBy,
  type Place,
  sortValue,
  sortValueAt,
} from '../order.ts';
import { combineChecks, equalsOneOf, rowsOfId } from '../predicates/conditions.ts';
import type { Predicate } from '../predicates/predicate.ts';
import {
  matchCondition,
  matchesAmong,
  ownedBy,
  type Selection,
  type Source,
  selectMatches,
  selectRows,
} from '../selection.ts';
import { tallyOr } from '../tallies.ts';

/** The requested rows of an ordered selection. */
export interface Wanted {
  readonly selection: Selection;
  readonly order: readonly OrderKey[];
  /** The maximum number of rows. */
  readonly limit: number;
  /** The last row of the previous page. */
  readonly last?: Last;
  /** The time for which the order is computed, if the sort key is only `_lastUpdated`. */
  readonly made?: Micros;
  readonly total: boolean;
}

/**
 * Returns SQL for all of a source's matches, sorted. With `most`, the SQL returns only `over` if the source has more rows than
 * that.
 */
export function candidates(
  wanted: Wanted,
  source: Source | undefined,
  most: number | undefined,
  binds: Binds,
): string {
  const { order, total } = wanted;
  // A condition on the sort key's values is checked while the values are read.
  const place = order[0]?.place;
  const along = source?.kind === 'keys' ? conditionsOn(place, wanted.selection.predicates) : [];
  const predicates = wanted.selection.predicates.filter((each) => !along.includes(each));
  const selection = { ...wanted.selection, predicates };
  const updated = order.some(({ by }) => by === '_lastUpdated');
  const few = most === undefined ? 'true' : `(select count(*) from s) <= ${most}`;
  const matches =
    source === undefined
      ? selectMatches(selection, binds)
      : matchesAmong('s', source, selection, updated, binds);
  // Planned for all rows, but read only as far as needed. With a limit in this query, the planner might assume that any row
  // matches if the table has no statistics.
  const taken = (of: string) =>
    most === undefined
      ? `s as materialized (${of}),`
      : `a as materialized (${of}), s as materialized (select a.* from a limit ${most + 1}),`;
  const rows = source === undefined ? '' : taken(selectRows(source, binds));
  const [known, values] =
    place === undefined || along.length === 0 ? ['null as k0', ''] : ['v.k0', joined(place, along, binds)];
  const head = `with ${rows} c as materialized (
    select m.id, m.last_updated, ${known} from (${matches}) m ${values} where ${few})`;
  return framed(
    wanted,
    head,
    { total: total ? 'select count(*) from c' : undefined, over: `not (${few})` },
    sorted(wanted, along.length > 0, binds),
    binds,
  );
}

/** Returns SQL that counts a selection's matches. */
export function total(selection: Selection, source: Source | undefined, binds: Binds): string {
  if (source === undefined) {
    return `select count(*) from resources.resource r where ${matchCondition(selection, binds)}`;
  }
  const rows = `(${selectRows(source, binds)})`;
  const count = `select count(*) from (${matchesAmong(rows, source, selection, false, binds)}) m`;
  return tallyOr(count, selection, source, binds);
}

/** Returns SQL that joins rows `m` with their values, if the values meet the conditions. */
function joined({ table, column, keys }: Place, along: readonly Predicate[], binds: Binds): string {
  const as = along[0]?.values?.as ?? 'v';
  const conditions = [
    equalsOneOf(`${as}.key`, keys, binds),
    ...along.map(({ values }) => `(${values?.condition(binds)})`),
  ];
  return `cross join lateral (select ${as}.${column} as k0 from ${rowsOfId(table, as, 'm.id')}
    where ${conditions.join(' and ')} limit 1) v`;
}

/**
 * Returns SQL for rows of `c` (id, last_updated, k0), sorted.
 * @param known whether k0 is already computed
 */
function sorted({ order, limit, last, made }: Wanted, known: boolean, binds: Binds): string {
  const value = (key: OrderKey, n: number): string => {
    if (n === 0 && known) return 'c.k0';
    return made === undefined ? sortValue(key, binds) : sortValueAt(made, binds);
  };
  const values = order.map((key, n) => `${value(key, n)} as k${n}`);
  const conditions = [
    ...(made === undefined ? [] : ['k0 is not null']),
    ...(last === undefined ? [] : [`(${after(order, last, binds)})`]),
  ];
  return `select k.* from (select c.id, ${values.join(', ')} from c offset 0) k
    ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
    order by ${orderBy(order)} limit ${limit}`;
}

/**
 * Returns the whole statement for a page: its resources, the total, and whether there are more. The rows are joined into one
 * text (`joined-rows.ts`): id, version, recording time, the sort keys, and the body or its size.
 * @param by the order of `rows`, written with the expressions that `rows` uses, so that nothing is sorted again
 */
export function framed(
  { selection, order }: Wanted,
  head: string,
  all: { readonly total: string | undefined; readonly over: string },
  rows: string,
  binds: Binds,
  by = orderBy(order, 'p.'),
): string {
  const keys = order.map(({ type }, n) => (type === 'text' ? asJson(`p.k${n}::text`) : orNothing(`p.k${n}`)));
  const columns = ['p.id', orNothing('r.version'), orNothing('r.last_updated'), ...keys, orNothing('r.body')];
  return `${head}
    select ${all.total === undefined ? 'null::int8' : `(${all.total})`} as total, ${all.over} as over, (
      select ${joinedRows('x.line')} from (
        select ${joinedColumns(columns)} as line
        from (${rows}) p
        left join lateral (
          select r.version, r.last_updated, ${bodyOrSize('r.body')} as body from resources.resource r
          where r.id = p.id and ${ownedBy(selection, true, binds)} offset 0) r on true
        order by ${by}) x) as rows`;
}

/** Returns SQL for a column as text, with an empty text instead of null. */
function orNothing(column: string): string {
  return `coalesce(${column}::text, '')`;
}

/** Returns an ORDER BY for only the first sort key, in the form that index walks use. For keys that every row has. */
export function byFirst(key: Pick<OrderKey, 'descending'>, row: string): string {
  return `${row}k0 ${direction(key)}, ${row}id ${direction(key)}`;
}

/**
 * Returns SQL for a walk through resources in the order of their ids or of `_lastUpdated`: indexes resources.resource_by_id,
 * resource_of_tenant, or the index of the selection's rows.
 * @param most the number of resources to look at
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
         where ${matchCondition(selection, binds)} ${until} ${beyond} ${by} limit ${limit}`
      : `select r.id, ${column} as k0 from (
           select r.id, r.record, r.last_updated, r.tenant, r.type, r.deleted from resources.resource r
           where ${ownedBy(selection, false, binds)} ${until} ${beyond} ${by} limit ${most}) r
         where ${combineChecks(selection.predicates, binds)} limit ${limit}`;
  const rows =
    upper === undefined
      ? walked
      : // What was written since the first page was made keeps the place it had then (its version of that moment, by
        // the primary key of history.version), so that no resource moves across a page boundary and is missed or shown twice.
        `select u.id, u.k0 from ((${walked}) union all (
           select h.id, h.k0 from (
             select r.id, ${sortValueAt(made ?? 0, binds, 'r')} as k0 from resources.resource r
             where ${matchCondition(selection, binds)} and r.last_updated > ${upper} offset 0) h
           where h.k0 is not null ${last === undefined ? '' : `and ${after(order, last, binds)}`})) u
         order by ${orderBy(order)} limit ${limit}`;
  const all = { total: totalOf, over: 'false' };
  return rows === walked
    ? framed(wanted, '', all, rows, binds, byFirst(key, 'p.'))
    : framed(wanted, '', all, rows, binds);
}

function beyondLast({ by, descending }: OrderKey, { keys, id }: Last, binds: Binds): string {
  const sign = descending ? '<' : '>';
  if (by === '_id') return `r.id ${sign} ${binds.add(id, 'uuid')}`;
  return `(r.last_updated, r.id) ${sign} (${binds.add(keys[0] ?? '', 'int8')}, ${binds.add(id, 'uuid')})`;
}
