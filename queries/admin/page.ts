/** Pages of the admin interface's lists: newest first, by key, with the number of all (decisions.md, section 4). */
import type { Pool } from 'pg';
import { z } from 'zod';
import { decodeListCursor, encodeCursor } from '../cursor.ts';

/** What is asked for. */
export interface PageAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly total: number;
  /** Undefined on the last page. */
  readonly next: string | undefined;
}

/** A list as SQL. */
export interface List {
  /** Names the statement. */
  readonly name: string;
  /** `select` of all its rows, columns `created_at` and `id` among them; parameters from `$1` on. */
  readonly rows: string;
  readonly values: readonly unknown[];
}

const key = z.tuple([z.int(), z.string().max(200)]);

/**
 * A page of a list, in one statement.
 * @throws Refusal invalid (422) for a cursor that is none of the list.
 */
export async function pageOf<T extends { readonly created_at: number; readonly id: string }>(
  pool: Pool,
  { name, rows, values }: List,
  { limit, cursor }: PageAsked,
): Promise<Page<T>> {
  const [at, id] = cursor === undefined ? [null, null] : decodeListCursor(cursor, key);
  const next = values.length + 1;
  const after = `$${next}::int8 is null or (l.created_at, l.id) < ($${next}, $${next + 1}::text)`;
  const answer = await pool.query<{ total: number; page: T[] }>({
    name: `page-${name}`,
    // Not materialized: what is counted needs no columns, what is shown no more than a page.
    text: `with list as not materialized (${rows})
select (select count(*)::int from list) as total,
  (select coalesce(json_agg(p), '[]') from (select l.* from list l where ${after}
    order by l.created_at desc, l.id desc limit $${next + 2}) p) as page`,
    values: [...values, at, id, limit + 1],
  });
  const { total, page } = answer.rows[0] ?? { total: 0, page: [] };
  const shown = page.slice(0, limit);
  const last = shown.at(-1);
  const more = page.length > limit && last !== undefined;
  return { rows: shown, total, next: more ? encodeCursor([last.created_at, last.id]) : undefined };
}
