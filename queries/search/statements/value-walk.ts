/** Walks through resources in the order of a parameter's values: indexes search.period_by_low and similar. */
import { inRecordKey, searchKey } from '#src/fhir/search/keys.ts';
import type { Binds } from '../../database/binds.ts';
import { after, conditionsOn, direction, type OrderKey, orderBy, type Place, sortValue } from '../order.ts';
import { combineChecks, equalsOneOf, rowsOfId } from '../predicates/conditions.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { both, parts, type Span } from '../predicates/span.ts';
import { entryConditions, isInRecord, ownedBy, type Selection } from '../selection.ts';
import type { About } from './about.ts';
import { byFirst, framed, type Wanted } from './page.ts';

/** The path of a walk. */
export interface Path {
  readonly place: Place;
  /** Limits the walk to values with these hashes: indexes search.period_about, period_in_record. */
  readonly of?: readonly (readonly [column: 'about' | 'about_record' | 'about_system', hash: string])[];
  /** True if a resource has at most one value on the path. */
  readonly once: boolean;
  /** The parts of a selection that every value on the path already satisfies. */
  readonly implied: { readonly token: string | undefined; readonly record: string | undefined };
  /** The number of values to read; undefined for all. */
  readonly most?: number;
}

/**
 * Returns the path along a sort key's values, optionally limited to the values for a code or a record; undefined if the values
 * belong to several parameters.
 * @param most the number of values to read
 */
export function walkPath(
  place: Place,
  most: number | undefined,
  about: About | undefined,
  record?: string,
): Path | undefined {
  if (place.keys.length > 1) return undefined;
  const implied = { token: about?.token, record };
  const limit = most === undefined ? {} : { most };
  if (about === undefined) return { place, once: false, implied, ...limit };
  const { key, system } = about;
  const of = [
    record === undefined
      ? (['about', key] as const)
      : (['about_record', searchKey(inRecordKey(key, record))] as const),
    ...(system === undefined ? [] : [['about_system', system] as const]),
  ];
  return { place, of, once: place.single && system !== undefined, implied, ...limit };
}

/** Returns the parts of a selection that must still be checked for values on a path. */
function beside({ implied }: Path, along: readonly Predicate[], selection: Selection): Selection {
  const { record, ...others } = selection;
  const predicates = selection.predicates.filter(
    (each) =>
      !along.includes(each) &&
      (implied.token === undefined || each.keys?.join() !== implied.token) &&
      !isInRecord(each, implied.record),
  );
  return { ...others, predicates, ...(record === undefined || record === implied.record ? {} : { record }) };
}

/**
 * Returns SQL for the matches that have a value, in the order of their first values. If there are conditions on the same
 * values and no other key, `over` reports whether the walk ended before its path did.
 */
export function valueWalk(wanted: Wanted, path: Path, total: string | undefined, binds: Binds): string {
  const { order, limit, last, selection } = wanted;
  const [first, ...others] = order;
  if (first === undefined) throw new Error('an order without keys');
  const way = direction(first);
  const along = conditionsOn(path.place, selection.predicates);
  const condition = () => along.map(({ values }) => `(${values?.condition(binds)})`).join(' and ');
  if (others.length === 0) {
    const page = (matches: string) =>
      `select c.id, c.k0 from (${matches}) c order by ${byFirst(first, 'c.')} limit ${limit}`;
    const by = byFirst(first, 'p.');
    if (along.length === 0) {
      const { matches } = walk(wanted, first, path, along, undefined, binds);
      return framed(wanted, '', { total, over: 'false' }, page(matches), binds, by);
    }
    // Each part is limited to one page, so a walk stops when the page is full.
    const walks = parts(impliedSpan(along, path.place), condition, binds).map((part) =>
      walk(wanted, first, path, along, part, binds),
    );
    const pages = walks.map(({ matches }, n) => `a${n} as materialized (${page(matches)})`);
    const union = walks.map((_, n) => `select a.id, a.k0 from a${n} a`).join(' union all ');
    const over = walks.map(({ passed }, n) =>
      path.most === undefined
        ? 'false'
        : `case when (select count(*) from a${n}) = ${limit} then false
             else (select count(*) from (${passed}) d) >= ${path.most} end`,
    );
    return framed(wanted, `with ${pages.join()}`, { total, over: over.join(' or ') }, page(union), binds, by);
  }
  // The other keys sort only the page and the rows that tie with its last row on the first key.
  const part = along.length === 0 ? undefined : condition();
  const { matches, passed } = walk(wanted, first, path, along, part, binds);
  const values = others.map((key, n) => `${sortValue(key, binds)} as k${n + 1}`);
  const beyond = last === undefined ? 'true' : after(order, last, binds);
  const rows = `select m.* from (
      select k.* from (select c.id, c.k0, ${values.join(', ')} from (${matches}) c order by c.k0 ${way} offset 0) k
      where ${beyond} order by k.k0 ${way} fetch first ${limit} rows with ties) m
    order by ${orderBy(order)} limit ${limit}`;
  const page = `select m.* from m0 m order by ${orderBy(order)}`;
  const over = path.most === undefined ? 'false' : endsAmongTies(first, { limit, most: path.most }, passed);
  return framed(wanted, `with m0 as materialized (${rows})`, { total, over }, page, binds);
}

/**
 * Returns SQL for whether a walk of a full page ended too early: before all rows that tie with the page's last row on the
 * first key. The rows that the walk didn't reach may then belong before rows of the page.
 */
function endsAmongTies(
  { descending }: OrderKey,
  { limit, most }: { readonly limit: number; readonly most: number },
  passed: string,
): string {
  const [end, beyond] = descending ? ['min', '<'] : ['max', '>'];
  return `case when (select count(*) from m0) < ${limit} then false
    when exists (select from (${passed}) d where d.k0 ${beyond} (select ${end}(m.k0) from m0 m)) then false
    else (select count(*) from (${passed}) d) >= ${most} end`;
}

/**
 * Returns two queries: one for the matches in the order of the first key, with the columns `id`, `last_updated` and `k0`, and
 * one for the number of values read.
 * @param along the conditions on the key's own values; `part` limits the walk to some of these values
 */
function walk(
  { selection, last, order }: Wanted,
  first: OrderKey,
  path: Path,
  along: readonly Predicate[],
  part: string | undefined,
  binds: Binds,
): { readonly matches: string; readonly passed: string } {
  const { place, of, most, once } = path;
  const { table, column, keys } = place;
  const way = direction(first);
  const [sign, from] = first.descending ? ['<', '<='] : ['>', '>='];
  const o = along[0]?.values?.as ?? 'o';
  const conditions = [
    ...(of === undefined ? [equalsOneOf(`${o}.key`, keys, binds)] : bearing(o, of, binds)),
    ...(part === undefined ? [] : [part]),
  ];
  const value = last?.keys[0] ?? undefined;
  if (last !== undefined && value !== undefined) {
    const start = binds.add(value, first.type);
    conditions.push(
      order.length === 1
        ? `(${o}.${column}, ${o}.id) ${sign} (${start}, ${binds.add(last.id, 'uuid')})`
        : `${o}.${column} ${from} ${start}`,
    );
  }
  const left = beside(path, along, selection);
  const entry = entryConditions(left, undefined, binds);
  const others = left.predicates.filter(({ ofEntry }) => ofEntry !== true);
  const updated = order.some(({ by }) => by === '_lastUpdated');
  // If a resource has several values, only the first one counts. If several values are equal, the first row counts.
  const isFirst = () => {
    const before = first.descending ? '>' : '<';
    const equal = ['v.at < d.at', ...(of === undefined ? [] : bearing('v', of, binds))].join(' and ');
    return `(select true from ${rowsOfId(table, 'v', id)} where ${equalsOneOf('v.key', keys, binds)}
      and (v.${column} ${before} d.k0 or v.${column} = d.k0 and ${equal}) limit 1) is null`;
  };
  const passed = `select ${o}.id, ${o}.${column} as k0, ${o}.ctid as at from search.${table} ${o}
    where ${conditions.join(' and ')}
    order by ${o}.${column} ${way}, ${o}.id ${way} ${most === undefined ? 'offset 0' : `limit ${most}`}`;
  // Values contain their resource's id, so the resource's entry needn't be read.
  const ofValues = left.record === undefined && left.predicates.every(isOfValues);
  const row = ofValues ? '(select d.id) r where' : 'search.entry r where r.id = d.id and';
  const resources = updated || others.length > 0;
  // Refers to the table that is joined last, so that the condition is checked only for rows that meet the other conditions.
  const id = resources ? 'x.id' : entry.length > 0 ? 'e.id' : 'd.id';
  const matches = `
    select d.id, d.k0, ${updated ? 'x.last_updated' : 'null::int8 as last_updated'} from (${passed}) d
    ${entry.length === 0 ? '' : `cross join lateral (select r.id from ${row} ${entry.join(' and ')} offset 0) e`}
    ${resources ? `cross join lateral (${resource(selection, others, binds)}) x` : ''}
    ${once ? '' : `where ${isFirst()}`}`;
  return { matches, passed };
}

/** Returns the conditions that a row has the given hashes in the given columns. */
function bearing(row: string, of: NonNullable<Path['of']>, binds: Binds): string[] {
  return of.map(([column, hash]) => `${row}.${column} = ${binds.add(hash, 'int8')}`);
}

/** Returns true if a predicate uses an entry's values and nothing else of the entry, or doesn't use the entry at all. */
function isOfValues({ ofEntry, keys, values }: Predicate): boolean {
  return ofEntry !== true || (keys === undefined && values !== undefined);
}

/** Returns the range of a column's values that conditions imply. */
function impliedSpan(along: readonly Predicate[], { column }: Place): Span | undefined {
  return along
    .map(({ values }) => values?.span)
    .filter((span) => span?.column === column)
    .reduce(both, undefined);
}

function resource(selection: Selection, predicates: readonly Predicate[], binds: Binds): string {
  return `select r.id, r.last_updated from resources.resource r
    where r.id = d.id and ${ownedBy(selection, true, binds)} and ${combineChecks(predicates, binds)} offset 0`;
}

/** Returns the predicate that a resource has no value for the sort key. */
export function withoutValue({ table, keys }: Place): Predicate {
  const condition = (binds: Binds) =>
    `(select true from ${rowsOfId(table, 'o', 'r.id')} where ${equalsOneOf('o.key', keys, binds)} limit 1) is null`;
  return Object.assign(condition, { ofEntry: true });
}
