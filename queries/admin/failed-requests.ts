/** Requests in all projects that the service refused or failed to answer, and any single request, for operators. */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { ROUTE } from './slow-requests.ts';

/** The project that a request belongs to; names are null if the project was deleted. */
interface OfProject {
  readonly project: string;
  readonly project_name: string | null;
  readonly organization_name: string | null;
  readonly environment: Environment | null;
}

/** Requests of one project, on one route, that failed with the same status. */
export interface FailedRoute extends OfProject {
  readonly status: number;
  readonly method: string;
  /** The path with `{id}` instead of ids. */
  readonly route: string;
  readonly requests: number;
  readonly first: Micros;
  readonly last: Micros;
  /** The newest of them. */
  readonly request_id: string;
  /** The error of the newest request: JSON `{type, fields}`. */
  readonly error: string | null;
}

/** The number of failed requests in an hour. */
export interface FailedHour {
  readonly hour: Micros;
  /** Answered 5xx. */
  readonly failed: number;
  /** Answered 429. */
  readonly throttled: number;
}

/** The failed requests to count. */
export interface FailedAsked {
  readonly from: Micros;
  /** Exclusive. */
  readonly to: Micros;
  readonly project?: string | undefined;
}

/** A request, without the ids in its path. */
export interface FoundRequest extends OfProject {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  readonly at: Micros;
  readonly error: string | null;
}

/** The questions. */
export interface FailedRequests {
  /** Returns at most 100 groups, newest first. */
  readonly failedRoutes: (asked: FailedAsked) => Promise<readonly FailedRoute[]>;
  readonly failedHours: (asked: FailedAsked) => Promise<readonly FailedHour[]>;
  readonly findRequest: (requestId: string) => Promise<FoundRequest | undefined>;
}

// Index: request_log_failed.
const FAILED = `
  select * from operations.request_log
   where (status >= 500 or status = 429) and at >= $1 and at < $2 and ($3::text is null or project = $3)`;

const NAMED = `
  left join projects.project p on p.id = r.project
  left join projects.organization o on o.id = p.organization`;

const ROUTES = `
select r.*, p.name as project_name, o.name as organization_name from (
  select project, environment, status, method, ${ROUTE} as route, count(*)::int as requests,
         min(at) as first, max(at) as last,
         (array_agg(request_id order by at desc))[1] as request_id, (array_agg(error order by at desc))[1] as error
    from (${FAILED}) f group by 1, 2, 3, 4, 5 order by max(at) desc limit 100) r ${NAMED}
 order by r.last desc`;

const HOURS = `
select (at / 3600000000) * 3600000000 as hour, (count(*) filter (where status >= 500))::int as failed,
       (count(*) filter (where status = 429))::int as throttled
  from (${FAILED}) f group by 1 order by 1`;

// Index: request_log_of_id.
const FOUND = `
select r.project, r.environment, r.method, ${ROUTE} as route, r.status, r.ms, r.at, r.error,
       p.name as project_name, o.name as organization_name
  from operations.request_log r ${NAMED} where r.request_id = $1`;

/** Creates the queries. */
export function openFailedRequests(pool: Pool): FailedRequests {
  const ask = async <Row extends object>(name: string, text: string, asked: FailedAsked) =>
    (await pool.query<Row>({ name, text, values: [asked.from, asked.to, asked.project ?? null] })).rows;
  return {
    failedRoutes: (asked) => ask<FailedRoute>('failed-routes', ROUTES, asked),
    failedHours: (asked) => ask<FailedHour>('failed-hours', HOURS, asked),
    async findRequest(requestId) {
      const found = { name: 'found-request', text: FOUND, values: [requestId] };
      return (await pool.query<FoundRequest>(found)).rows[0];
    },
  };
}
