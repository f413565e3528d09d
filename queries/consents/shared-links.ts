/** Queries for shared links: a record's links, a link that is being opened, and links that must be ended. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** States of a shared link. */
export const SHARED_LINK_STATUSES = ['active', 'revoked', 'expired', 'closed'] as const;

/** A shared link as shown to the people who have the record. */
export interface SharedLinkRow {
  readonly id: string;
  /** The Patient's real id. */
  readonly record: string;
  readonly label: string | null;
  /** `summary`, `everything` or `document/<id>`. */
  readonly content: string;
  readonly long_term: boolean;
  readonly passcode: boolean;
  readonly created_at: Micros;
  readonly expires_at: Micros;
  /** `closed`: ended after five wrong passcodes, or because its key was lost with the database. */
  readonly status: (typeof SHARED_LINK_STATUSES)[number];
  /** Null if the link has ended. */
  readonly sealed_key: string | null;
  readonly access_count: number;
  readonly last_access_at: Micros | null;
}

/** A shared link that somebody wants to open. */
export interface OpenedLinkRow {
  readonly id: string;
  readonly record: string;
  readonly owner_project: string;
  readonly environment: Environment;
  readonly content: string;
  readonly long_term: boolean;
  /** False if the link has ended, or if there is nothing left to show. */
  readonly open: boolean;
  readonly sealed_key: string | null;
  /** The passcode's salt; null if the link needs no passcode. */
  readonly salt: Buffer | null;
  /** The passcode's hash. */
  readonly passcode: Buffer | null;
  readonly attempts: number;
  /** The stored content's length in characters; null if the content is created each time the link is opened. */
  readonly length: number | null;
  /** The receipt of the stored content; null if it has none. */
  readonly receipt: string | null;
}

/** A shared link whose end must be recorded as an event. */
export interface SharedLinkToEnd {
  readonly id: string;
  readonly record: string;
  readonly reason: 'expired' | 'passcode' | 'platform';
}

/** Queries about shared links. */
export interface SharedLinkQueries {
  /**
   * Reads a record's links, newest first, including ended links.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly listSharedLinks: (record: string, asked: PageAsked) => Promise<Page<SharedLinkRow>>;
  /** Reads one of a record's links; undefined if it doesn't exist. */
  readonly sharedLink: (record: string, id: string) => Promise<SharedLinkRow | undefined>;
  /** Reads a link that is being opened, even if it has ended; undefined if it never existed. */
  readonly openedLink: (id: string) => Promise<OpenedLinkRow | undefined>;
  /** Reads links that have expired, that were closed by wrong passcodes, or whose project was deleted; at most 500. */
  readonly sharedLinksToEnd: () => Promise<readonly SharedLinkToEnd[]>;
}

/** The attempts that close a link: wrong attempts, or attempts that a crash interrupted at least a minute ago. */
const CLOSED = `k.attempts >= 5 and (k.wrong >= 5 or k.attempted_at < now() - interval '1 minute')`;

const DELETED_PROJECT = `exists (select from projects.project p where p.id = s.owner_project and p.deleted_at is not null)`;

const STATUS = `case
  when s.ended_at is not null and s.reason = 'expired' then 'expired'
  when s.ended_at is not null and s.reason = 'passcode' then 'closed'
  when s.ended_at is not null then 'revoked'
  when s.expires_at <= $1::int8 then 'expired'
  when ${DELETED_PROJECT} then 'revoked'
  when k.id is null or ${CLOSED} then 'closed'
  else 'active' end`;

// Index: operations.access_entry_of_actor.
const SHOWN = `
  select s.link_id as id, s.record, s.label, s.content, s.long_term, s.passcode, s.created_at, s.expires_at,
    ${STATUS} as status, k.sealed_key, e.n as access_count, e.at as last_access_at
  from consents.shared_links s left join operations.shared_link k on k.id = s.link_id
  cross join lateral (
    select count(*)::int4 as n, max(a.at)::float8 as at from operations.access_entry a
     where a.actor_id = s.link_id and a.actor_kind = 'link' and a.action = 'open-link' and a.status = 'ok') e`;

// Index: the primary keys of all four.
const OPENED = `
select s.link_id as id, s.record, s.owner_project, s.environment, s.content, s.long_term,
  s.ended_at is null and s.expires_at > $1::int8 and k.id is not null and r.id is not null
    and not ${DELETED_PROJECT} and not (${CLOSED}) as open,
  k.sealed_key, k.salt, k.passcode, coalesce(k.attempts, 0) as attempts,
  k.length::float8 as length, k.receipt
from consents.shared_links s
  left join operations.shared_link k on k.id = s.link_id
  left join resources.resource r on r.id = s.record and r.type = 'Patient' and not r.deleted
where s.link_id = $2`;

// Index: consents.shared_links_by_expiry, operations.shared_link_used_up, consents.open_shared_links_of_owner.
const TO_END = `
(select s.link_id as id, s.record, 'expired' as reason from consents.shared_links s
  where s.ended_at is null and s.expires_at <= $1::int8 order by s.expires_at limit 500)
union all
(select s.link_id, s.record, 'passcode' from operations.shared_link k join consents.shared_links s on s.link_id = k.id
  where k.attempts >= 5 and ${CLOSED} and s.ended_at is null and s.expires_at > $1::int8 limit 500)
union all
(select s.link_id, s.record, 'platform' from projects.project p join consents.shared_links s on s.owner_project = p.id
  where p.deleted_at is not null and s.ended_at is null and s.expires_at > $1::int8 limit 500)`;

/** Creates the queries. */
export function openSharedLinks(pool: Pool): SharedLinkQueries {
  return {
    // Index: consents.shared_links_of_record.
    listSharedLinks: (record, asked) =>
      readPage<SharedLinkRow>(
        pool,
        {
          name: 'shared-links-of-record',
          rows: `${SHOWN} where s.record = $2::uuid`,
          values: [nowMicros(), record],
        },
        asked,
      ),
    async sharedLink(record, id) {
      const { rows } = await pool.query<SharedLinkRow>({
        name: 'shared-link',
        text: `${SHOWN} where s.record = $2::uuid and s.link_id = $3`,
        values: [nowMicros(), record, id],
      });
      return rows[0];
    },
    async openedLink(id) {
      const { rows } = await pool.query<OpenedLinkRow>({
        name: 'shared-link-opened',
        text: OPENED,
        values: [nowMicros(), id],
      });
      return rows[0];
    },
    async sharedLinksToEnd() {
      const { rows } = await pool.query<SharedLinkToEnd>({
        name: 'shared-links-to-end',
        text: TO_END,
        values: [nowMicros()],
      });
      return rows;
    },
  };
}
