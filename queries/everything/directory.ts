/** The directory entries that a record refers to, and those that these refer to in turn. */

import type { Micros } from '#src/shared/time.ts';
import type { Queryable } from '../gather.ts';
import { idsIn } from './references.ts';
import { directoryRows, type EverythingRow, type RecordScope, recordRows } from './rows.ts';

/** Rows that are read at a time only to see what they refer to. */
const BATCH = 1_000;

/** A directory entry. */
export type DirectoryRow = EverythingRow & { readonly lastUpdated: Micros };

/** The ids of directory entries that a record's resources in a scope name, whatever their type. */
export async function idsInRecord(
  database: Queryable,
  { tenant, record, care }: RecordScope,
  bases: readonly string[],
): Promise<Set<string>> {
  const ids = new Set<string>();
  const scope = { tenant, record, ...(care === undefined ? {} : { care }) };
  let rows = await recordRows(database, scope, undefined, BATCH);
  for (;;) {
    for (const id of idsIn(rows, bases)) ids.add(id);
    const last = rows.at(-1);
    if (rows.length < BATCH || last === undefined) return ids;
    rows = await recordRows(database, scope, last, BATCH);
  }
}

/** Entries of some ids and all that they refer to, in the order of type and id. */
export async function closure(
  database: Queryable,
  tenant: string,
  ids: ReadonlySet<string>,
  bases: readonly string[],
): Promise<DirectoryRow[]> {
  const all: DirectoryRow[] = [];
  const known = new Set(ids);
  let wanted = new Set(ids);
  while (wanted.size > 0) {
    const rows = await directoryRows(database, tenant, wanted);
    all.push(...rows);
    wanted = new Set([...idsIn(rows, bases)].filter((id) => !known.has(id)));
    for (const id of wanted) known.add(id);
  }
  const key = ({ type, id }: DirectoryRow): string => `${type}/${id}`;
  return all.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
