/** The rows that a version of a resource makes in the read model `search`. */
import { extract, type Found } from '#src/fhir/search/extract.ts';
import {
  dimensionKey,
  parameterKey,
  recordKey,
  systemKey,
  tokenForm,
  valueKey,
} from '#src/fhir/search/keys.ts';
import { FOLDED_LENGTH, folded } from '#src/fhir/search/text.ts';
import type { QuantityValue } from '#src/fhir/search/values.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import { parseJson } from '#src/shared/json.ts';
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
    return { entry: { id, version, record, keys, targets: [] }, strings: [], periods: [], quantities: [] };
  }
  const { forms, strings, periods, quantities, targets } = extract(type, parsed(event.body));
  const keys = new Set(forms.map(({ code, value }) => searchKey(valueKey(tenant, type, code, value))));
  for (const key of inRecord) keys.add(searchKey(key));
  const columns = ({ code, about }: Found<unknown>) => ({
    id,
    key: searchKey(parameterKey(tenant, type, code)),
    ...(about?.code === undefined
      ? { about: null, about_system: null }
      : {
          about: searchKey(valueKey(tenant, type, code, tokenForm.code(about.code))),
          about_system: searchKey(systemKey(about.system)),
        }),
  });
  return {
    entry: {
      id,
      version,
      record,
      keys: [...keys].sort(),
      targets: [...targets].filter((target) => target !== record && isUuid(target)).sort(),
    },
    strings: distinct(
      strings.map((found) => ({
        ...columns(found),
        folded: folded(found.value).slice(0, FOLDED_LENGTH),
        exact: searchable(found.value),
      })),
    ),
    periods: distinct(
      periods.map((found) => ({ ...columns(found), low: found.value.from, high: found.value.to })),
    ),
    quantities: distinct(quantities.map((found) => ({ ...columns(found), ...inUnits(found.value) }))),
  };
}

function inUnits({ canonical, ...value }: QuantityValue) {
  return {
    ...value,
    dimension: canonical === null ? null : searchKey(dimensionKey(canonical.dimension)),
    canonical_low: canonical?.low ?? null,
    canonical_high: canonical?.high ?? null,
  };
}

/** Numbers of more digits than a JavaScript number has. */
const LONG_NUMBER = /\d[\d.]{16}/;

/** A stored body; decimals that JavaScript would round are `LosslessNumber`s. */
function parsed(body: string): unknown {
  return LONG_NUMBER.test(body) ? parseJson(body).value : JSON.parse(body);
}

/** Each row once. */
function distinct<R extends object>(rows: readonly R[]): R[] {
  if (rows.length < 2) return [...rows];
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()];
}
