/** What a project's members see of its requests: the log, and use by day. Both are written a second late. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/tenant.ts';
import { type Page, type PageAsked, pageOf } from './page.ts';

/** An entry of the log; `created_at` is when the request was answered, microseconds since 1970. */
export interface RequestRow {
  /** `Service-Request-Id`. */
  readonly id: string;
  readonly created_at: number;
  /** Null: a request about the project as a whole. */
  readonly environment: Environment | null;
  readonly key_id: string | null;
  /** Issuer and subject of an ID token. */
  readonly identity: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

/** What the log is searched by. */
export interface RequestsAsked extends PageAsked {
  readonly environment?: Environment | undefined;
  readonly requestId?: string | undefined;
  readonly keyId?: string | undefined;
  /** From and to, inclusive. */
  readonly statuses?: readonly [number, number] | undefined;
  /** What the path begins with. */
  readonly path?: string | undefined;
  /** Microseconds, inclusive. */
  readonly from?: number | undefined;
  /** Microseconds, exclusive. */
  readonly to?: number | undefined;
}

/** What one project used on one day in one environment. */
export interface UsageRow {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly environment: Environment;
  readonly requests: number;
  readonly reads: number;
  readonly writes: number;
  /** Bytes of the events written. */
  readonly stored: number;
}

/** What is asked. */
export interface Traffic {
  /** @throws Refusal invalid (422) for a cursor that is none of the list. */
  readonly requests: (project: string, asked: RequestsAsked) => Promise<Page<RequestRow>>;
  /** Days without any use are not there; oldest first. @param from,to `YYYY-MM-DD`, inclusive. */
  readonly usage: (project: string, from: string, to: string) => Promise<UsageRow[]>;
}

// Indexes: request_log_of_project (project, at, request_id); primary key (request_id).
const REQUESTS = `
select l.request_id as id, l.at as created_at, l.environment, l.key_id, l.identity, l.method, l.path, l.status, l.ms
  from operations.request_log l
 where l.project = $1
   and ($2::text is null or l.environment = $2)
   and ($3::text is null or l.request_id = $3)
   and ($4::text is null or l.key_id = $4)
   and l.status between $5::int and $6::int
   and starts_with(l.path, $7::text)
   and l.at >= $8::int8 and l.at < $9::int8`;

// Index: primary key (project, environment, day).
const USAGE = `
select to_char(u.day, 'YYYY-MM-DD') as date, u.environment, u.requests, u.reads, u.writes, u.stored
  from operations.usage u
 where u.project = $1 and u.day between $2::date and $3::date
 order by u.day, u.environment`;

/** Opens the questions. */
export function openTraffic(pool: Pool): Traffic {
  return {
    requests(project, { environment, requestId, keyId, statuses, path, from, to, ...page }) {
      const [least, most] = statuses ?? [0, 999];
      const when = [from ?? 0, to ?? Number.MAX_SAFE_INTEGER];
      const who = [environment ?? null, requestId ?? null, keyId ?? null];
      const values = [project, ...who, least, most, path ?? '', ...when];
      return pageOf(pool, { name: 'requests', rows: REQUESTS, values }, page);
    },
    async usage(project, from, to) {
      const { rows } = await pool.query<UsageRow>({
        name: 'usage',
        text: USAGE,
        values: [project, from, to],
      });
      return rows;
    },
  };
}
