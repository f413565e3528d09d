/** Builds the rows that a version of a resource has in the read model `search`. */
import { arrayLiteral } from '#src/database/array-literal.ts';
import { type Contained, containedIn } from '#src/fhir/search/contained.ts';
import { extract, type Found, LABEL, type SearchValues, type Within } from '#src/fhir/search/extract.ts';
import {
  containedKey,
  containedType,
  dimensionKey,
  type Hashes,
  hasKeyInRecord,
  inRecordKey,
  recordKey,
  searchKey,
  systemKey,
  typeHashes,
} from '#src/fhir/search/keys.ts';
import type { Period } from '#src/fhir/search/period.ts';
import { sortRow } from '#src/fhir/search/sorts.ts';
import { folded, pieces, withoutIds } from '#src/fhir/search/text.ts';
import type { QuantityValue } from '#src/fhir/search/values.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import { type JsonObject, parseJson } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { timelineKind } from '#src/v1/timeline.ts';
import { readOwner, type StoredResourceEvent } from '../owner.ts';
import { parsedOnce, type Version } from '../parsed.ts';
import type { Row } from '../rows.ts';
import type { ENTRY, PERIOD, QUANTITY, STRING } from './schema.ts';

type Entry = Row<typeof ENTRY> & { readonly id: string; readonly version: number };

/** The rows for one resource, including its contained resources. */
export interface Rows {
  readonly tenant: string;
  readonly type: string;
  readonly entry: Entry;
  /** Rows for the resources that it contains. */
  readonly contained: readonly Entry[];
  readonly strings: readonly Row<typeof STRING>[];
  readonly periods: readonly Row<typeof PERIOD>[];
  readonly quantities: readonly Row<typeof QUANTITY>[];
}

/** Number of values to process in one step. */
const STEP = 200;

/**
 * Counts values.
 * @returns a function that is called for each value, and returns true when a step is full
 */
function countSteps(): () => boolean {
  let left = STEP;
  return () => {
    left -= 1;
    if (left > 0) return false;
    left = STEP;
    return true;
  };
}

/** Returns the rows for an event's version, in steps; for a deleted version, only the entry. */
export function* makeRows(stored: StoredResourceEvent): Steps<Rows> {
  const { event } = stored;
  const { tenant, record } = readOwner(stored);
  const { resourceId: id, resourceType: type, version } = event;
  const own = { id, version, record };
  const keys = new Set(record === null ? [] : [searchKey(recordKey(record))]);
  if (event.type === 'ResourceDeleted' || !isResourceType(type)) {
    const entry = { keys: writeArray(keys), targets: writeArray([]), sorts: null, container: null, ...own };
    return { tenant, type, entry, contained: [], strings: [], periods: [], quantities: [] };
  }
  const resource = parsed(event, record);
  const contained = 'contained' in resource ? containedIn(id, resource) : new Map();
  const within = { contained, container: `${type}/${id}` };
  const found = yield* extract(type, resource, within);
  const hashes = typeHashes(tenant, type);
  const isDue = countSteps();
  for (const { code, value } of found.forms) {
    if (isDue()) yield;
    const key = hashes.value(code, value);
    keys.add(key);
    if (record !== null && hasKeyInRecord(code, value)) keys.add(searchKey(inRecordKey(key, record)));
  }
  const targets = writeTargets(found.targets, record);
  const entry = {
    keys: writeArray(keys),
    targets,
    sorts: writeSortRow(type, found),
    container: null,
    ...own,
  };
  const rows = { tenant, type, entry, contained: [], ...(yield* makeValueRows(id, record, found, hashes)) };
  if (within.contained.size === 0) return rows;
  const inner: Inner[] = [];
  for (const each of within.contained.values()) inner.push(yield* containedRows(each, own, tenant, within));
  return {
    tenant,
    type,
    entry,
    contained: inner.map((each) => each.entry),
    strings: [...rows.strings, ...inner.flatMap(({ strings }) => strings)],
    periods: [...rows.periods, ...inner.flatMap(({ periods }) => periods)],
    quantities: [...rows.quantities, ...inner.flatMap(({ quantities }) => quantities)],
  };
}

/** The rows that a contained resource adds. */
type Inner = Pick<Rows, 'strings' | 'periods' | 'quantities'> & { readonly entry: Entry };

/** Returns a contained resource's rows. Its version and record are those of its container. */
function* containedRows(
  { type, rowId, resource }: Contained,
  { id: container, version, record }: { id: string; version: number; record: string | null },
  tenant: string,
  within: Within,
): Steps<Inner> {
  const found = yield* extract(type, resource, within);
  const hashes = typeHashes(tenant, containedType(type));
  const keys = new Set([searchKey(containedKey(tenant, type))]);
  if (record !== null) keys.add(searchKey(recordKey(record)));
  const isDue = countSteps();
  for (const { code, value } of found.forms) {
    if (isDue()) yield;
    keys.add(hashes.value(code, value));
  }
  const rest = { keys: writeArray(keys), targets: writeArray([]), sorts: null, container };
  return {
    entry: { id: rowId, version, record, ...rest },
    ...(yield* makeValueRows(rowId, record, found, hashes)),
  };
}

function* makeValueRows(
  id: string,
  record: string | null,
  { strings, periods, quantities }: SearchValues,
  hashes: Hashes,
): Steps<Pick<Rows, 'strings' | 'periods' | 'quantities'>> {
  return {
    strings: yield* stringRows(id, strings, hashes),
    periods: yield* periodRows(id, record, periods, hashes),
    quantities: yield* quantityRows(id, quantities, hashes),
  };
}

function writeSortRow(type: ResourceType, { sorts }: SearchValues): string | null {
  const row = sortRow(type, sorts);
  return row.length === 0 ? null : arrayLiteral(row);
}

function writeTargets(ids: ReadonlySet<string>, record: string | null): string {
  const targets: string[] = [];
  for (const id of ids) if (id !== record && isUuid(id)) targets.push(id);
  return writeArray(targets.sort());
}

/** Returns numbers or UUIDs in PostgreSQL's array syntax, which takes both sides half as long as a JSON array. */
function writeArray(members: Iterable<string>): string {
  return `{${[...members].join()}}`;
}

/** Returns the columns `about` and `about_system`. */
function aboutColumns(
  { code, about }: Found<unknown>,
  hashes: Hashes,
): readonly [string | null, string | null] {
  return about?.code === undefined
    ? NOTHING
    : [hashes.about(code, about.code), searchKey(systemKey(about.system))];
}

const NOTHING = [null, null] as const;

function* stringRows(id: string, all: readonly Found<string>[], hashes: Hashes): Steps<Rows['strings']> {
  const seen = new Set<string>();
  const rows: Row<typeof STRING>[] = [];
  const isDue = countSteps();
  for (const found of all) {
    if (isDue()) yield;
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutColumns(found, hashes);
    if (all.length > 1 && isSeen(seen, `${key} ${about} ${about_system} ${found.value}`)) continue;
    const { beginning, rest } = pieces(withoutIds(folded(found.value)));
    const exact = found.code.endsWith(LABEL) ? null : found.value;
    rows.push({ id, key, folded: beginning, rest, exact, about, about_system });
  }
  return rows;
}

function* periodRows(
  id: string,
  record: string | null,
  all: readonly Found<Period>[],
  hashes: Hashes,
): Steps<Rows['periods']> {
  const seen = new Set<string>();
  const rows: Row<typeof PERIOD>[] = [];
  const isDue = countSteps();
  for (const found of all) {
    if (isDue()) yield;
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutColumns(found, hashes);
    const { from, to } = found.value;
    if (all.length > 1 && isSeen(seen, `${key} ${about} ${about_system} ${from} ${to}`)) continue;
    const about_record = about === null || record === null ? null : searchKey(inRecordKey(about, record));
    rows.push({ id, key, low: from, high: to, about, about_system, about_record });
  }
  return rows;
}

function* quantityRows(
  id: string,
  all: readonly Found<QuantityValue>[],
  hashes: Hashes,
): Steps<Rows['quantities']> {
  const seen = new Set<string>();
  const rows: Row<typeof QUANTITY>[] = [];
  const isDue = countSteps();
  for (const found of all) {
    if (isDue()) yield;
    const key = hashes.parameter(found.code);
    const [about, about_system] = aboutColumns(found, hashes);
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

/**
 * Matches a number that has more digits than a JavaScript number, or an exponent beyond its range; bodies are written without
 * blanks.
 */
const LONG_NUMBER = /[:,[]-?\d(?:[\d.]{15}|[\d.]{0,14}[eE][+-]?\d{3})/;

/**
 * Parses the resource; decimals that JavaScript would round become `LosslessNumber`s, and all other numbers become plain
 * numbers.
 */
function parsed(event: Version, record: string | null): object {
  // The tree is kept for the read model `timeline`, which uses it too.
  if (record !== null && timelineKind(event.resourceType) !== undefined) {
    const { value, exact } = parsedOnce(event);
    if (!exact) return value;
  }
  return LONG_NUMBER.test(event.body) ? (parseJson(event.body).value as JsonObject) : JSON.parse(event.body);
}
