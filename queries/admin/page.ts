/**
 * Pages in the admin interface's lists: newest first, by key, with the total number of rows (docs/spec/decisions.md, section
 * 4). Rows are counted for the first page, and cursors carry the number to later pages.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { decodeListCursor, encodeCursor } from '../cursor.ts';

/** The requested page. */
export interface PageAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number;
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

/** A list as SQL. */
export interface List {
  /** The name of the prepared statement. */
  readonly name: string;
  /**
   * A `select` that returns all rows, including columns `created_at` and `id`; its parameters start at `$1`. If it is a
   * function, it receives the condition that selects where a page continues: `< (…, …)` on the two columns, or an empty string
   * for the first page.
   */
  readonly rows: string | ((after: string) => string);
  readonly values: readonly unknown[];
}

const key = z.tuple([z.int(), z.string().max(200), z.int().nonnegative()]);

/**
 * Reads a page of a list, in one statement.
 * @throws Refusal invalid (422) for a cursor from a different list
 */
export async function readPage<T extends { readonly created_at: number; readonly id: string }>(
  pool: Pool,
  { name, rows, values }: List,
  { limit, cursor }: PageAsked,
): Promise<Page<T>> {
  const from = cursor === undefined ? undefined : decodeListCursor(cursor, key);
  const after = from === undefined ? [] : from.slice(0, 2);
  const next = values.length + 1;
  // A separate statement for each case, because an optional condition would prevent the use of an index.
  const place = from === undefined ? '' : `< ($${next}::int8, $${next + 1}::text)`;
  const all = typeof rows === 'string' ? rows : rows(place);
  const where = typeof rows === 'string' && place !== '' ? `where (l.created_at, l.id) ${place}` : '';
  const counted = from === undefined ? '(select count(*)::int from list)' : 'null::int';
  const answer = await pool.query<{ total: number | null; page: T[] }>({
    name: `page-${name}${from === undefined ? '' : '-after'}`,
    // Not materialized, because counting needs no columns and only one page of rows is returned.
    text: `with list as not materialized (${all})
select ${counted} as total,
  (select coalesce(json_agg(p), '[]') from (select l.* from list l ${where}
    order by l.created_at desc, l.id desc limit $${next + after.length}) p) as page`,
    values: [...values, ...after, limit + 1],
  });
  const page = answer.rows[0]?.page ?? [];
  const total = from?.[2] ?? answer.rows[0]?.total ?? 0;
  const shown = page.slice(0, limit);
  const last = shown.at(-1);
  const more = page.length > limit && last !== undefined;
  return { rows: shown, total, next: more ? encodeCursor([last.created_at, last.id, total]) : undefined };
}
