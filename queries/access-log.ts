/** Reads the access log: a page of a record's entries, with the readers' names (docs/spec/decisions.md, section 4). */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { AccessStatus } from '#src/shared/access/access-entry.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Page, PageAsked } from './admin/page.ts';
import { decodeCursorFor, encodeCursorFor } from './cursor.ts';

/** An entry. */
export interface AccessRow {
  readonly id: string;
  readonly record: string;
  /** The entry's number within the record, starting at 1. */
  readonly seq: number;
  readonly at: Micros;
  readonly action: string;
  readonly actor_kind: 'application' | 'key' | 'person' | 'link';
  readonly actor_id: string;
  readonly issuer: string | null;
  readonly role: 'self' | 'representative' | 'member' | null;
  readonly grant_id: string | null;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly purpose: string | null;
  readonly status: AccessStatus;
  readonly count: number | null;
  readonly request_id: string;
  /** The id of the response's receipt; null if it has none. */
  readonly receipt: string | null;
  /**
   * The name of the application or key, a member's e-mail address, the name that the recipient of a link gave, or, if people
   * are named, a person's name; null if unknown.
   */
  readonly actor: string | null;
}

/** The entries to return: the record's entries that meet every given condition. */
export interface AccessLogAsked extends PageAsked {
  /** Only reads under this grant. */
  readonly grant?: string | undefined;
  /** The earliest time, inclusive. */
  readonly from?: Micros | undefined;
  /** Before this moment. */
  readonly to?: Micros | undefined;
  readonly status?: AccessStatus | undefined;
  readonly action?: string | undefined;
  readonly resourceType?: string | undefined;
  /** Only reads by this application. */
  readonly application?: string | undefined;
  /** True to name patients and representatives too. Only for people to whom the record belongs, never for projects. */
  readonly named?: boolean | undefined;
}

/**
 * Reads a record's entries, newest first.
 * @throws Refusal invalid (422) for a cursor from a different list
 */
export type AccessLogOf = (record: string, asked: AccessLogAsked) => Promise<Page<AccessRow>>;

/**
 * Returns SQL that selects entries with the names of their actors. Without `named`, patients and representatives aren't named,
 * so that a project learns nothing about who signs in.
 * @param entries SQL for rows of operations.access_entry
 */
export const namedEntries = (entries: string, named = false): string => `
select e.id, e.record, e.seq::float8 as seq, e.at::float8 as at, e.action, e.actor_kind, e.actor_id, e.issuer, e.role,
       e.grant_id, e.resource_type, e.resource_id, e.purpose, e.status, e.count, e.request_id, e.receipt,
       coalesce(a.name, k.name, m.email, e.actor_name${named ? ', s.name' : ''}) as actor
  from ${entries} e
  left join projects.application a on e.actor_kind = 'application' and a.id = e.actor_id
  left join projects.api_key k on e.actor_kind = 'key' and k.key_id = e.actor_id
  left join lateral (
    select max(m.email) as email from projects.member m
     where e.role = 'member' and m.issuer = e.issuer and m.subject = e.actor_id) m on true${
       named
         ? `
  left join operations.person s on e.role in ('self', 'representative') and s.issuer = e.issuer and s.subject = e.actor_id`
         : ''
     }`;

/**
 * Conditions by name; `?` stands for the value. Times never go back within a record, so each time corresponds to an entry
 * number. Indexes: the primary key (record, seq), and access_entry_of_grant (grant_id, seq).
 */
const CONDITIONS: readonly (readonly [keyof AccessLogAsked, string])[] = [
  ['grant', 'e.grant_id = ?::text'],
  ['from', 'e.seq >= (select operations.access_seq_from($1::uuid, ?::int8))'],
  ['to', 'e.seq < (select operations.access_seq_from($1::uuid, ?::int8))'],
  ['status', 'e.status = ?::text'],
  ['action', 'e.action = ?::text'],
  ['resourceType', 'e.resource_type = ?::text'],
  ['application', "e.actor_kind = 'application' and e.actor_id = ?::text"],
];

const TOTAL = 'select entries as total from operations.access_head where record = $1::uuid and not erased';

/** Entries under a grant are counted when they are written: src/operations/access-log/use.ts. */
const TOTAL_OF_GRANT = `
select coalesce(sum(entries), 0) as total from operations.access_use where record = $1::uuid and grant_id = $2::text`;

const place = z.tuple([z.int().positive(), z.int().nonnegative()]);

/** Opens the question. */
export function openAccessLogPages(pool: Pool): AccessLogOf {
  return async (record, { limit, cursor, named = false, ...asked }) => {
    const given = CONDITIONS.flatMap(([name, sql]) => {
      const value = Object.entries(asked).find(([key]) => key === name)?.[1];
      return value === undefined ? [] : [{ name, sql, value }];
    });
    const list = ['access-log', record, ...given.map(({ name, value }) => `${name}=${value}`)].join(' ');
    const [before, counted] = cursor === undefined ? [] : decodeCursorFor(list, cursor, place);
    const values = [record, ...given.map(({ value }) => value)];
    const where = [
      'e.record = $1::uuid',
      ...given.map(({ sql }, index) => sql.replace('?', `$${index + 2}`)),
    ].join(' and ');
    const names = given.map(({ name }) => `-${name}`).join('');
    const after = before === undefined ? '' : ` and e.seq < $${values.length + 2}`;
    const { rows } = await pool.query<AccessRow>({
      name: `access-log-page${names}${named ? '-named' : ''}${after && '-after'}`,
      text: `
with page as materialized (
  select e.* from operations.access_entry e where ${where}${after} order by e.seq desc limit $${values.length + 1}
)
${namedEntries('page', named)} order by e.seq desc`,
      values: [...values, limit + 1, ...(before === undefined ? [] : [before])],
    });
    // Entries are only ever added, so the count includes this page's entries.
    const total = counted ?? (await countEntries(pool, names, where, values));
    const shown = rows.slice(0, limit);
    const last = shown.at(-1);
    const more = rows.length > limit && last !== undefined;
    return { rows: shown, total, next: more ? encodeCursorFor(list, [last.seq, total]) : undefined };
  };
}

/** Counts the entries that meet the given conditions; totals per record and per grant are already stored. */
async function countEntries(
  pool: Pool,
  names: string,
  where: string,
  values: readonly unknown[],
): Promise<number> {
  const counted = names === '' ? TOTAL : names === '-grant' ? TOTAL_OF_GRANT : undefined;
  const { rows } = await pool.query<{ total: string }>({
    name: `access-log-total${names}`,
    text: counted ?? `select count(*) as total from operations.access_entry e where ${where}`,
    values: [...values],
  });
  return Number(rows[0]?.total ?? 0);
}
