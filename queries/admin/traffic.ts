/** A project's request log and daily usage, for its members. Both become visible with a delay of one second. */
import type { Pool } from 'pg';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { type Page, type PageAsked, readPage } from './page.ts';

/** An entry in the log; `created_at` is when the response was sent, in microseconds since 1970. */
export interface RequestRow {
  /** `Service-Request-Id`. */
  readonly id: string;
  readonly created_at: number;
  /** Null for a request about the project as a whole. */
  readonly environment: Environment | null;
  readonly key_id: string | null;
  /** The application, if an access token was used. */
  readonly application_id: string | null;
  /** Issuer and subject, if an ID token was used. */
  readonly identity: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  /**
   * The reason why the request was refused: JSON `{type, fields}`; null for a success, and for old entries that don't contain
   * a reason.
   */
  readonly error: string | null;
}

/** A version that a request wrote. */
export interface WrittenRow {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly patient: string | null;
  readonly operation: string;
  /** Id of its event. */
  readonly event: string;
}

/** Filters of the log. */
export interface RequestsAsked extends PageAsked {
  readonly environment?: Environment | undefined;
  readonly requestId?: string | undefined;
  readonly keyId?: string | undefined;
  readonly applicationId?: string | undefined;
  /** The lowest and highest status to include. */
  readonly statuses?: readonly [number, number] | undefined;
  /** Prefix of the path. */
  readonly path?: string | undefined;
  readonly method?: string | undefined;
  /** Microseconds, inclusive. */
  readonly from?: number | undefined;
  /** Microseconds, exclusive. */
  readonly to?: number | undefined;
}

/** A project's usage on one day in one environment. */
export interface UsageRow {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly environment: Environment;
  readonly requests: number;
  /** Requests that returned 4xx; null for a day on which errors weren't counted. */
  readonly client_errors: number | null;
  /** Requests that returned 5xx; null whenever `client_errors` is null. */
  readonly server_errors: number | null;
  readonly reads: number;
  readonly writes: number;
  /** Bytes of the events that were written. */
  readonly stored: number;
}

/** Queries about traffic. */
export interface Traffic {
  /**
   * Reads the request log.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly requests: (project: string, asked: RequestsAsked) => Promise<Page<RequestRow>>;
  /** Returns a log entry by its request id; undefined if there is none. */
  readonly request: (project: string, requestId: string) => Promise<RequestRow | undefined>;
  /** Returns the versions that a request wrote, oldest first; versions in purged records no longer exist. */
  readonly written: (tenant: string, entry: RequestRow) => Promise<WrittenRow[]>;
  /**
   * Returns the usage by day, oldest first. Days without usage are left out.
   * @param from,to `YYYY-MM-DD`, inclusive
   */
  readonly usage: (project: string, from: string, to: string) => Promise<UsageRow[]>;
}

/**
 * The filters' conditions; `?` stands for the value. A filter that isn't given must not be in the statement, because a plan
 * that allows any value wouldn't use the filter's index. The first conditions select the entries that the others search.
 */
const WITHIN = [
  ['requestId', 'l.request_id = ?'],
  ['from', 'l.at >= ?'],
  ['to', 'l.at < ?'],
] as const;
const FILTERS = [
  ...WITHIN,
  ['environment', 'l.environment = ?'],
  ['keyId', 'l.key_id = ?'],
  ['applicationId', 'l.application_id = ?'],
  ['least', 'l.status >= ?'],
  ['most', 'l.status <= ?'],
  ['path', 'starts_with(l.path, ?)'],
  ['method', 'l.method = ?'],
] as const;

/** The maximum number of entries for a search to read, whatever the size of the log. */
const LOOKED_THROUGH = 1_000_000;

// Indexes: primary key (project, at, request_id); request_log_of_id (request_id).
const ENTRY =
  'l.request_id as id, l.at as created_at, l.environment, l.key_id, l.application_id, l.identity, l.method, l.path, l.status, l.ms, l.error';

// Index: primary key (project, environment, day).
const USAGE = `
select to_char(u.day, 'YYYY-MM-DD') as date, u.environment, u.requests, u.client_errors, u.server_errors,
       u.reads, u.writes, u.stored
  from operations.usage u
 where u.project = $1 and u.day between $2::date and $3::date
 order by u.day, u.environment`;

/** The maximum number of versions to list for a request, and how far clocks may differ from the request's times, in µs. */
const MOST_WRITTEN = 1_000;
const SLACK = 2_000_000;

// Index: history.version_of_tenant (tenant, type, recorded_at, event_id), one probe a type, within the request's time.
const WRITTEN = `
select v.type, v.id::text, v.version, v.record::text as patient, v.operation, v.event_id::text as event
  from unnest($2::text[]) t(type)
 cross join lateral (
   select * from history.version v
    where v.tenant = $1 and v.type = t.type and v.recorded_at between $3 and $4
      and v.metadata::jsonb ->> 'request_id' = $5
    order by v.recorded_at limit ${MOST_WRITTEN}) v
 order by v.recorded_at, v.event_id limit ${MOST_WRITTEN}`;

/**
 * Creates the queries.
 * @param lookedThrough set only by tests
 */
export function openTraffic(pool: Pool, lookedThrough = LOOKED_THROUGH): Traffic {
  return {
    requests(project, { limit, cursor, statuses, ...filters }) {
      const asked = { ...filters, least: statuses?.[0], most: statuses?.[1] };
      const given = FILTERS.filter(([name]) => asked[name] !== undefined);
      const conditions = given.map(([, sql], index) => ` and ${sql.replace('?', `$${index + 2}`)}`);
      const within = given.filter(([name]) => WITHIN.some(([own]) => own === name)).length;
      const list = {
        name: `requests-${given.map((filter) => FILTERS.indexOf(filter)).join('')}`,
        rows: (after: string) => `
select ${ENTRY} from (
  select * from operations.request_log l
   where l.project = $1${conditions.slice(0, within).join('')} ${after && `and (l.at, l.request_id) ${after}`}
   order by l.at desc, l.request_id desc limit ${lookedThrough}) l
 where true${conditions.slice(within).join('')}`,
        values: [project, ...given.map(([name]) => asked[name])],
      };
      return readPage(pool, list, { limit, cursor });
    },
    async request(project, requestId) {
      const { rows } = await pool.query<RequestRow>({
        name: 'request-of-id',
        text: `select ${ENTRY} from operations.request_log l where l.request_id = $1 and l.project = $2`,
        values: [requestId, project],
      });
      return rows[0];
    },
    async written(tenant, { id, created_at: at, ms }) {
      const { rows } = await pool.query<WrittenRow>({
        name: 'request-written',
        text: WRITTEN,
        values: [tenant, TYPE_NAMES, at - Math.ceil(ms * 1_000) - SLACK, at + SLACK, id],
      });
      return rows;
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
