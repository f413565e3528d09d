/** The predicate that resources are in the records of some Patients with known ids. */
import { recordKey } from '#src/fhir/search/keys.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { Binds } from '../binds.ts';
import { ofTenant } from './conditions.ts';
import type { SearchScope } from './parameter.ts';
import type { Predicate } from './predicate.ts';

/** From this number of records on, a walk along the result's order is assumed to find the next match soon. */
const MANY_RECORDS = 32;

/**
 * Matches resources of the scope's type in one of the records. Index resources.resource_of_record, keys in
 * search.entry_keys.
 */
export function inRecordsPredicate(
  ids: readonly string[],
  { tenant, type }: Pick<SearchScope, 'tenant' | 'type'>,
): Predicate {
  const [first, ...others] = ids;
  // For one record the index returns the rows in the order of their ids.
  const condition = (binds: Binds) =>
    first !== undefined && others.length === 0
      ? `r.record = ${binds.add(first, 'uuid')}`
      : `r.record = any(${binds.add(ids, 'uuid[]')})`;
  const known = {
    ofEntry: true,
    implied: () => ids.map((id) => searchKey(recordKey(id))),
    inRecords: ids,
    narrowed: (some: readonly string[]) => inRecordsPredicate(some, { tenant, type }),
  };
  if (ids.length < MANY_RECORDS) return Object.assign(condition, { ...known, keyed: true });
  const rows = rowsInRecords(ids, { tenant, type });
  return Object.assign(condition, { ...known, rows, wide: true as const });
}

/**
 * Returns a query, with `id` and `record`, for the live resources of a type in some records, one record after
 * the other.
 */
export function rowsInRecords(
  ids: readonly string[],
  scope: Pick<SearchScope, 'tenant' | 'type'>,
): (binds: Binds) => string {
  return (binds) => `select o.id, o.record from unnest(${binds.add(ids, 'uuid[]')}) i(id)
    cross join lateral (${inOneRecord('i.id', scope, binds)}) o`;
}

/**
 * Returns a query, with `id` and `record`, for the live resources of a type in one record.
 * @param record SQL for its id
 */
export function inOneRecord(
  record: string,
  { tenant, type }: Pick<SearchScope, 'tenant' | 'type'>,
  binds: Binds,
): string {
  return `select r.id, r.record from resources.resource r
    where r.record = ${record} and ${ofTenant(tenant, true, binds)} and r.type = ${binds.add(type, 'text')}
      and not r.deleted offset 0`;
}
