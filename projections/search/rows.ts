/** The rows that a version of a resource makes in the read model `search`. */
import { extract, type Found } from '#src/fhir/search/extract.ts';
import { parameterKey, recordKey, valueKey } from '#src/fhir/search/keys.ts';
import { FOLDED_LENGTH, folded } from '#src/fhir/search/text.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { searchKey } from '#src/shared/search-key.ts';
import { searchable } from '#src/shared/searchable.ts';
import { ownerOf, type StoredResourceEvent } from '../owner.ts';
import type { Row } from '../rows.ts';
import type { ENTRY, PERIOD, QUANTITY, STRING } from './schema.ts';

/** All rows of one resource. */
export interface Rows {
  readonly entry: Row<typeof ENTRY> & { readonly id: string; readonly version: number };
  readonly strings: readonly Row<typeof STRING>[];
  readonly periods: readonly Row<typeof PERIOD>[];
  readonly quantities: readonly Row<typeof QUANTITY>[];
}

/** The rows of an event's version; of a deleted one only the entry. */
export function rowsOf(stored: StoredResourceEvent): Rows {
  const { event } = stored;
  const { tenant, record } = ownerOf(stored);
  const { resourceId: id, resourceType: type, version } = event;
  const inRecord = record === null ? [] : [recordKey(record)];
  if (event.type === 'ResourceDeleted' || !isResourceType(type)) {
    const keys = inRecord.map(searchKey);
    return { entry: { id, version, record, keys }, strings: [], periods: [], quantities: [] };
  }
  const { forms, strings, periods, quantities } = extract(type, JSON.parse(event.body));
  const keys = new Set(forms.map(({ code, value }) => searchKey(valueKey(tenant, type, code, value))));
  for (const key of inRecord) keys.add(searchKey(key));
  const keyOf = ({ code }: Found<unknown>) => searchKey(parameterKey(tenant, type, code));
  return {
    entry: { id, version, record, keys: [...keys].sort() },
    strings: distinct(
      strings.map((found) => ({
        id,
        key: keyOf(found),
        folded: folded(found.value).slice(0, FOLDED_LENGTH),
        exact: searchable(found.value),
      })),
    ),
    periods: distinct(
      periods.map((found) => ({ id, key: keyOf(found), low: found.value.from, high: found.value.to })),
    ),
    quantities: distinct(quantities.map((found) => ({ id, key: keyOf(found), ...found.value }))),
  };
}

/** Each row once. */
function distinct<R extends object>(rows: readonly R[]): R[] {
  if (rows.length < 2) return [...rows];
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}
