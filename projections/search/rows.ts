/** The rows that a version of a resource makes in the read model `search`. */
import { extract, type Found } from '#src/fhir/search/extract.ts';
import { type Hashes, hashesOf } from '#src/fhir/search/hashes.ts';
import { dimensionKey, hasKeyInRecord, inRecordKey, recordKey, systemKey } from '#src/fhir/search/keys.ts';
import type { Period } from '#src/fhir/search/period.ts';
import { FOLDED_LENGTH, folded } from '#src/fhir/search/text.ts';
import type { QuantityValue } from '#src/fhir/search/values.ts';
import { isResourceType } from '#src/fhir/types.ts';
import { kindOf } from '#src/fhir/v1/timeline.ts';
import { isUuid } from '#src/shared/ids.ts';
import { parseJson } from '#src/shared/json.ts';
import { searchKey } from '#src/shared/search-key.ts';
import { searchable } from '#src/shared/searchable.ts';
import { ownerOf, type StoredResourceEvent } from '../owner.ts';
import { parsedOnce, type Version } from '../parsed.ts';
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
    const keys = arrayOf(inRecord.map(searchKey));
    return {
      entry: { id, version, record, keys, targets: arrayOf([]) },
      strings: [],
      periods: [],
      quantities: [],
    };
  }
  const found = extract(type, parsed(event, record));
  const hashes = hashesOf(tenant, type);
  const keys = new Set(inRecord.map(searchKey));
  for (const { code, value } of found.forms) {
    const key = hashes.value(code, value);
    keys.add(key);
    if (record !== null && hasKeyInRecord(code, value)) keys.add(searchKey(inRecordKey(key, record)));
  }
  return {
    entry: { id, version, record, keys: arrayOf(keys), targets: targetsOf(found.targets, record) },
    strings: stringRows(id, found.strings, hashes),
    periods: periodRows(id, record, found.periods, hashes),
    quantities: quantityRows(id, found.quantities, hashes),
  };
}

function targetsOf(ids: ReadonlySet<string>, record: string | null): string {
  const targets: string[] = [];
  for (const id of ids) if (id !== record && isUuid(id)) targets.push(id);
  return arrayOf(targets.sort());
}

/** Numbers or UUIDs as PostgreSQL reads an array of them: half the time of an array of JSON, for either side. */
function arrayOf(members: Iterable<string>): string {
  return `{${[...members].join()}}`;
}

/** The columns `about` and `about_system`. */
function aboutOf({ code, about }: Found<unknown>, hashes: Hashes): readonly [string | null, string | null] {
  return about?.code === undefined
    ? NOTHING
    : [hashes.about(code, about.code), searchKey(systemKey(about.system))];
}

const NOTHING = [null, null] as const;

function stringRows(id: string, all: readonly Found<string>[], hashes: Hashes): Rows['strings'] {
  const seen = new Set<string>();
  const rows: Row<typeof STRING>[] = [];
  for (const found of all) {
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutOf(found, hashes);
    if (all.length > 1 && isSeen(seen, `${key} ${about} ${about_system} ${found.value}`)) continue;
    const beginning = folded(found.value).slice(0, FOLDED_LENGTH);
    rows.push({ id, key, folded: beginning, exact: searchable(found.value), about, about_system });
  }
  return rows;
}

function periodRows(
  id: string,
  record: string | null,
  all: readonly Found<Period>[],
  hashes: Hashes,
): Rows['periods'] {
  const seen = new Set<string>();
  const rows: Row<typeof PERIOD>[] = [];
  for (const found of all) {
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutOf(found, hashes);
    const { from, to } = found.value;
    if (all.length > 1 && isSeen(seen, `${key} ${about} ${about_system} ${from} ${to}`)) continue;
    const about_record = about === null || record === null ? null : searchKey(inRecordKey(about, record));
    rows.push({ id, key, low: from, high: to, about, about_system, about_record });
  }
  return rows;
}

function quantityRows(id: string, all: readonly Found<QuantityValue>[], hashes: Hashes): Rows['quantities'] {
  const seen = new Set<string>();
  const rows: Row<typeof QUANTITY>[] = [];
  for (const found of all) {
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutOf(found, hashes);
    const { low, high, system, code, unit, canonical } = found.value;
    const value = `${low} ${high} ${system} ${code} ${unit}`;
    if (all.length > 1 && isSeen(seen, `${key} ${about} ${about_system} ${value}`)) continue;
    rows.push({
      id,
      key,
      low,
      high,
      system,
      code,
      unit,
      dimension: canonical === null ? null : dimensionHash(canonical.dimension),
      canonical_low: canonical === null ? null : canonical.low,
      canonical_high: canonical === null ? null : canonical.high,
      about,
      about_system,
    });
  }
  return rows;
}

function dimensionHash(dimension: string): string {
  return searchKey(dimensionKey(dimension));
}

function isSeen(seen: Set<string>, text: string): boolean {
  if (seen.has(text)) return true;
  seen.add(text);
  return false;
}

/** A number of more digits than a JavaScript number has; bodies are written without blanks. */
const LONG_NUMBER = /[:,[]-?\d[\d.]{15}/;

/** The resource; decimals that JavaScript would round are `LosslessNumber`s, no others. */
function parsed(event: Version, record: string | null): unknown {
  // What the read model `timeline` looks into, too.
  if (record !== null && kindOf(event.resourceType) !== undefined) {
    const { value, exact } = parsedOnce(event);
    if (!exact) return value;
  }
  return LONG_NUMBER.test(event.body) ? parseJson(event.body).value : JSON.parse(event.body);
}
