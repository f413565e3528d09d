/**
 * Sorts all rows that an index finds by a token or a reference. The sort values are in the rows' entries, so no other table is
 * read.
 */
import type { Binds } from '../../database/binds.ts';
import { after, type OrderKey, orderBy, sortValue } from '../order.ts';
import { combineChecks, hasKeys } from '../predicates/conditions.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { entryConditions, ownedBy, type Source } from '../selection.ts';
import { framed, type Wanted } from './page.ts';

/**
 * Returns the sets of keys that find the entries to sort: the source's sets, or without a source, the sets that find every
 * entry with a value.
 */
function keySetsFor(source: Source | undefined, first: OrderKey): readonly (readonly string[])[] {
  if (source?.kind === 'keys') return source.sets;
  return [first.inEntry?.present ?? []];
}

/**
 * Returns SQL for a page whose first sort key is in the entries: index search.entry_keys. Without a source, it finds only
 * resources that have a text for the sort key; `withoutText` finds the others.
 * @param total SQL that counts the matches.
 */
export function entrySort(
  wanted: Wanted,
  source: Source | undefined,
  total: string | undefined,
  binds: Binds,
): string {
  const { selection, order, limit, last } = wanted;
  const [first] = order;
  if (first?.inEntry === undefined) throw new Error('an order that no entry says');
  const sets = keySetsFor(source, first);
  const known = new Set(sets.map((set) => set.join()));
  const predicates = selection.predicates.filter(({ keys }) => keys === undefined || !known.has(keys.join()));
  const left = { ...selection, predicates };
  const others = predicates.filter(({ ofEntry }) => ofEntry !== true);
  const conditions = [hasKeys('r', sets, binds), ...entryConditions(left, undefined, binds)];
  const updated = order.some((key) => key.by === '_lastUpdated');
  const resources =
    updated || others.length > 0
      ? `cross join lateral (select x.last_updated from resources.resource x where x.id = e.id offset 0) x`
      : '';
  const values = order.map((key, n) => {
    if (n === 0) return 'c.k0';
    return key.inEntry === undefined ? sortValue(key, binds) : key.inEntry.value('c');
  });
  const entries = `select r.id, r.record, r.sorts, ${first.inEntry.value('r')} as k0 from search.entry r
    where ${conditions.join(' and ')}`;
  const matched =
    others.length === 0
      ? entries
      : `select e.* from (${entries}) e cross join lateral (select r.id from resources.resource r
         where r.id = e.id and ${ownedBy(selection, true, binds)} and ${combineChecks(others, binds)} offset 0) m`;
  const conditionsOnKeys = [
    ...(source === undefined ? ['k0 is not null'] : []),
    ...(last === undefined ? [] : [`(${after(order, last, binds)})`]),
  ];
  const rows = `select k.* from (
      select c.id, ${values.map((value, n) => `${value} as k${n}`).join(', ')}
      from (select e.*, ${updated ? 'x.last_updated' : 'null::int8 as last_updated'} from (${matched}) e ${resources}) c
      offset 0) k
    ${conditionsOnKeys.length === 0 ? '' : `where ${conditionsOnKeys.join(' and ')}`}
    order by ${orderBy(order)} limit ${limit}`;
  return framed(wanted, '', { total, over: 'false' }, rows, binds);
}

/**
 * Returns the predicate that a resource's entry has no text for a key. The resource may still have the parameter: for example,
 * a concept without codes.
 */
export function withoutText({ inEntry }: Pick<OrderKey, 'inEntry'>): Predicate {
  const condition = () =>
    `(select ${inEntry?.value('o') ?? 'null'} from search.entry o where o.id = r.id) is null`;
  return Object.assign(condition, { ofEntry: true });
}
