/** Finds the directory entries to which a record refers, and the entries to which these refer in turn. */

import type { Micros } from '#src/shared/time/time.ts';
import { readOut, type Tuple } from '../database/copy-out.ts';
import type { Queryable } from '../database/gather.ts';
import type { Seeing } from '../sight.ts';
import { NamedIds } from './references.ts';
import {
  directoryRows,
  type EverythingRow,
  isLarge,
  type Place,
  type RecordScope,
  recordRowsBy,
  rowsById,
} from './rows.ts';

/** The number of rows to read at once when looking for their references. */
const BATCH = 1_000;

/** A directory entry. */
export type DirectoryRow = EverythingRow & { readonly lastUpdated: Micros };

/** Adds the references in the resources of a record within a scope, whatever their type. Doesn't keep the bodies. */
export async function addNamedInRecord(
  database: Queryable,
  { sees, readBy, record, care }: RecordScope,
  named: NamedIds,
): Promise<void> {
  const scope = { sees, readBy, record, ...(care === undefined ? {} : { care }) };
  const out = (from: Queryable, select: string): Promise<readonly Place[]> =>
    readOut(from, select, ([type, id, body]: Tuple) => {
      if (body) named.add(body);
      return { type: String(type), id: String(id) };
    });
  for (let last: Place | undefined; ; ) {
    const rows = await recordRowsBy(out, database, scope, { after: last, limit: BATCH });
    last = rows.at(-1);
    if (rows.length < BATCH || last === undefined) return;
  }
}

/** Adds the entries to which rows refer; large bodies are read for this purpose, but not kept. */
async function addNamedBy(
  database: Queryable,
  sees: Seeing,
  rows: readonly EverythingRow[],
  named: NamedIds,
): Promise<void> {
  for (const row of rows) if (!isLarge(row)) named.add(row.body);
  const large = rows.filter(isLarge).map(({ id }) => id);
  if (large.length === 0) return;
  await readOut(database, rowsById(sees, large), ([, , body]) => {
    if (body) named.add(body);
  });
}

/**
 * Returns the entries with the given ids, and everything to which they refer, in order of type and id. For a large body, only
 * its size is returned.
 */
export async function closure(
  database: Queryable,
  sees: Seeing,
  ids: ReadonlySet<string>,
  bases: readonly string[],
): Promise<DirectoryRow[]> {
  const all: DirectoryRow[] = [];
  const known = new Set(ids);
  let wanted = new Set(ids);
  while (wanted.size > 0) {
    const rows = await directoryRows(database, sees, wanted);
    for (const row of rows) all.push(row);
    const named = new NamedIds(bases);
    await addNamedBy(database, sees, rows, named);
    wanted = new Set([...named.ids].filter((id) => !known.has(id)));
    for (const id of wanted) known.add(id);
  }
  const key = ({ type, id }: DirectoryRow): string => `${type}/${id}`;
  return all.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
