/** Reads the access log: a page of a record's entries, with the names of who read (docs/spec/decisions.md, section 4). */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Micros } from '#src/shared/time.ts';
import type { Page, PageAsked } from './admin/page.ts';
import { decodeCursorOf, encodeCursorOf } from './cursor.ts';

/** An entry. */
export interface AccessRow {
  readonly id: string;
  readonly record: string;
  /** Its number in the record, from 1. */
  readonly seq: number;
  readonly at: Micros;
  readonly action: string;
  readonly actor_kind: 'application' | 'key' | 'person';
  readonly actor_id: string;
  readonly issuer: string | null;
  readonly role: 'self' | 'representative' | 'member' | null;
  readonly grant_id: string | null;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly purpose: string | null;
  readonly status: 'ok' | 'denied' | 'not_found' | 'error';
  readonly count: number | null;
  readonly request_id: string;
  /** The application's or key's name, or a member's e-mail address; null if it is unknown. */
  readonly actor: string | null;
}

/** Reads the entries of a record, the newest first. @throws Refusal invalid (422) for a cursor of another list */
export type AccessLogOf = (record: string, asked: PageAsked) => Promise<Page<AccessRow>>;

/**
 * Returns SQL that selects entries with the names of their actors. Patients and representatives aren't named: a project
 * learns nothing about who signs in.
 * @param entries rows of operations.access_entry as SQL
 */
export const namedEntries = (entries: string): string => `
select e.id, e.record, e.seq::float8 as seq, e.at::float8 as at, e.action, e.actor_kind, e.actor_id, e.issuer, e.role,
       e.grant_id, e.resource_type, e.resource_id, e.purpose, e.status, e.count, e.request_id,
       coalesce(a.name, k.name, m.email) as actor
  from ${entries} e
  left join projects.application a on e.actor_kind = 'application' and a.id = e.actor_id
  left join projects.api_key k on e.actor_kind = 'key' and k.key_id = e.actor_id
  left join lateral (
    select max(m.email) as email from projects.member m
     where e.role = 'member' and m.issuer = e.issuer and m.subject = e.actor_id) m on true`;

// Index: the primary key (record, seq).
const pageSql = (after: string): string => `
with page as materialized (
  select * from operations.access_entry where record = $1::uuid ${after} order by seq desc limit $2
)
${namedEntries('page')} order by e.seq desc`;

const TOTAL = 'select entries from operations.access_head where record = $1::uuid and not erased';

const place = z.tuple([z.int().positive(), z.int().nonnegative()]);

/** Opens the question. */
export function openAccessLogOf(pool: Pool): AccessLogOf {
  return async (record, { limit, cursor }) => {
    const list = `access-log ${record}`;
    const [before, counted] = cursor === undefined ? [] : decodeCursorOf(list, cursor, place);
    const { rows } = await pool.query<AccessRow>({
      name: `access-log-page${before === undefined ? '' : '-after'}`,
      text: pageSql(before === undefined ? '' : 'and seq < $3'),
      values: [record, limit + 1, ...(before === undefined ? [] : [before])],
    });
    // Entries are only added: those of the page are among them.
    const total = counted ?? (await totalOf(pool, record));
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { rows: shown, total, next: more ? encodeCursorOf(list, [last.seq, total]) : undefined };
  };
}

async function totalOf(pool: Pool, record: string): Promise<number> {
  const { rows } = await pool.query<{ entries: number }>({
    name: 'access-log-total',
    text: TOTAL,
    values: [record],
  });
  return Number(rows[0]?.entries ?? 0);
}
