/** The routes with the slowest recent requests, from the request log of all projects. */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';

/** A route's response times, in ms. */
export interface SlowRoute {
  readonly method: string;
  /** The path with `{id}` instead of ids. */
  readonly route: string;
  readonly requests: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  /** The slowest one. */
  readonly slowest: {
    readonly request_id: string;
    readonly project: string;
    readonly at: Micros;
    readonly status: number;
  };
}

/** The slowest routes in a period. */
export interface SlowRoutes {
  /** Microseconds. */
  readonly from: Micros;
  /** The number of requests examined. */
  readonly requests: number;
  readonly routes: readonly SlowRoute[];
}

/**
 * The maximum number of entries to read. The period is shortened so that it contains about this many, as estimated from usage;
 * if it contains more, the newest are read.
 */
const MOST = 50_000;
const DAY = 86_400_000_000;
const LISTED = 50;

// Usage has one row per project, environment and day.
const PERIOD = `
select greatest(1, coalesce(sum(requests), 0) / 2)::int8 as daily,
       (extract(epoch from clock_timestamp()) * 1000000)::int8 as now
  from operations.usage where day >= (now() at time zone 'utc')::date - 1`;

// Ids are UUIDs, or have a prefix: `proj_…`. Matching them costs more than everything else, about 6 µs per entry.
export const ROUTE = `regexp_replace(path, '/([0-9a-f-]{36}|[a-z]+_[^/]{22,})', '/{id}', 'g')`;

// Index: request_log_age (BRIN).
const SLOWEST = `
with entry as (
  select method, ms, status, at, request_id, project,
         case when path like '%/\\_history/%' then regexp_replace(${ROUTE}, '[0-9]+$', '{version}') else ${ROUTE} end as route
    from operations.request_log where at >= $1 order by at desc limit ${MOST})
select method, route, count(*)::int as requests, sum(count(*)) over ()::int as all, min(min(at)) over () as first,
       percentile_cont(0.5) within group (order by ms) as p50,
       percentile_cont(0.95) within group (order by ms) as p95, max(ms) as max,
       (array_agg(json_build_object('request_id', request_id, 'project', project, 'at', at, 'status', status)
          order by ms desc))[1] as slowest
  from entry group by method, route order by p95 desc, route, method limit ${LISTED}`;

/** Reads the slowest routes in the last day, or in a shorter period if there were many requests. */
export async function readSlowRoutes(pool: Pool): Promise<SlowRoutes> {
  const { rows: period } = await pool.query<{ daily: number; now: Micros }>(PERIOD);
  const { daily = 1, now = 0 } = period[0] ?? {};
  const from = Math.round(now - DAY * Math.min(1, MOST / daily));
  const { rows } = await pool.query<SlowRoute & { all: number; first: Micros }>({
    name: 'slow-routes',
    text: SLOWEST,
    values: [from],
  });
  const { all = 0, first = from } = rows[0] ?? {};
  return { from: all < MOST ? from : first, requests: all, routes: rows };
}
