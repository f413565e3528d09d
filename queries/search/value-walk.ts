/** A walk over resources in the order of a parameter's values: indexes search.period_by_low and their like. */
import type { Binds } from '../binds.ts';
import { after, direction, type OrderKey, orderBy, type Place, sortValue } from './order.ts';
import { framed, type Wanted } from './page.ts';
import { checksOf, oneOf, type Predicate, rowsOfId, type Values } from './predicate.ts';
import { entryConditions, ownedBy, type Selection } from './selection.ts';

/** Where a walk goes. */
export interface Path {
  readonly place: Place;
  /** Of the parameter's values only those of this code: index search.period_about. */
  readonly about?: string;
  /** How many values are looked at; undefined: all. */
  readonly most?: number;
}

/**
 * The path along a key's values. Where a resource has one value at most, those that the selection does not want are passed
 * over; undefined when several parameters hold the values.
 */
export function pathOf(place: Place, most: number | undefined, about: string | undefined): Path | undefined {
  if (place.keys.length > 1) return undefined;
  return { place, ...(most === undefined ? {} : { most }), ...(about === undefined ? {} : { about }) };
}

/** The matches that have a value, those with the first ones first. */
export function valueWalk(wanted: Wanted, path: Path, total: string | undefined, binds: Binds): string {
  const { order, limit, last } = wanted;
  const [first, ...others] = order;
  if (first === undefined) throw new Error('an order without keys');
  const way = direction(first);
  const walked = walk(wanted, first, path, others.length === 0, binds);
  if (others.length === 0) {
    const rows = `select c.id, c.k0 from (${walked}) c order by c.k0 ${way}, c.id ${way} limit ${limit}`;
    return framed(wanted, '', { total, over: 'false' }, rows, binds);
  }
  // By the other keys are sorted no more than the page and what equals its last row in the first key.
  const values = others.map((key, n) => `${sortValue(key, binds)} as k${n + 1}`);
  const beyond = last === undefined ? 'true' : after(order, last, binds);
  const rows = `select m.* from (
      select k.* from (select c.id, c.k0, ${values.join(', ')} from (${walked}) c order by c.k0 ${way} offset 0) k
      where ${beyond} order by k.k0 ${way} fetch first ${limit} rows with ties) m
    order by ${orderBy(order)} limit ${limit}`;
  return framed(wanted, '', { total, over: 'false' }, rows, binds);
}

/** Matches in the order of the first key: a query with the columns `id`, `last_updated` and `k0`. */
function walk(
  { selection, last, order }: Wanted,
  first: OrderKey,
  { place, about, most }: Path,
  alone: boolean,
  binds: Binds,
): string {
  const { table, column, keys } = place;
  const way = direction(first);
  const [sign, from] = first.descending ? ['<', '<='] : ['>', '>='];
  const along = selection.predicates.filter(({ values }) => isAlong(place, values));
  const o = along[0]?.values?.as ?? 'o';
  const conditions = [
    about === undefined ? oneOf(`${o}.key`, keys, binds) : `${o}.about = ${binds.add(about, 'int8')}`,
    ...along.map(({ values }) => `(${values?.condition(binds)})`),
  ];
  const value = last?.keys[0] ?? undefined;
  if (last !== undefined && value !== undefined) {
    const start = binds.add(value, first.type);
    conditions.push(
      alone
        ? `(${o}.${column}, ${o}.id) ${sign} (${start}, ${binds.add(last.id, 'uuid')})`
        : `${o}.${column} ${from} ${start}`,
    );
  }
  const left = { ...selection, predicates: selection.predicates.filter((each) => !along.includes(each)) };
  const entry = entryConditions(left, undefined, binds);
  const others = selection.predicates.filter(({ ofEntry }) => ofEntry !== true);
  const updated = order.some(({ by }) => by === '_lastUpdated');
  // Of a resource's several values only the first one counts; of equal ones the first row.
  const before = first.descending ? '>' : '<';
  const equal = about === undefined ? '' : `and v.about = ${binds.add(about, 'int8')}`;
  return `
    select d.id, d.k0, ${updated ? 'x.last_updated' : 'null::int8 as last_updated'} from (
      select ${o}.id, ${o}.${column} as k0, ${o}.ctid as at from search.${table} ${o}
      where ${conditions.join(' and ')}
      order by ${o}.${column} ${way}, ${o}.id ${way} ${most === undefined ? 'offset 0' : `limit ${most}`}) d
    ${entry.length === 0 ? '' : `cross join lateral (select from search.entry r where r.id = d.id and ${entry.join(' and ')} offset 0) e`}
    ${updated || others.length > 0 ? `cross join lateral (${resource(selection, others, binds)}) x` : ''}
    where (select true from ${rowsOfId(table, 'v', 'd.id')} where ${oneOf('v.key', keys, binds)}
      and (v.${column} ${before} d.k0 or v.${column} = d.k0 and v.at < d.at ${equal}) limit 1) is null`;
}

/** Whether a condition is on the values that a walk goes along, of which a resource has no others. */
function isAlong({ table, keys, single }: Place, values: Values | undefined): boolean {
  return single && values?.table === table && values.by === undefined && values.keys.join() === keys.join();
}

function resource(selection: Selection, predicates: readonly Predicate[], binds: Binds): string {
  return `select r.last_updated from resources.resource r
    where r.id = d.id and ${ownedBy(selection, true, binds)} and ${checksOf(predicates, binds)} offset 0`;
}

/** The predicate that a resource has no value by which it could be sorted. */
export function withoutValue({ table, keys }: Place): Predicate {
  const condition = (binds: Binds) =>
    `(select true from ${rowsOfId(table, 'o', 'r.id')} where ${oneOf('o.key', keys, binds)} limit 1) is null`;
  return Object.assign(condition, { ofEntry: true });
}
