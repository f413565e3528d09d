/**
 * Reads how often grants were used, based on the access log (docs/spec/decisions.md, section 4, `access_count`,
 * `last_access_at`).
 */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';

/** The use of a grant: reads under the grant that showed data from the record. Refused reads don't count. */
export interface GrantUse {
  /** All of them. */
  readonly count: number;
  /** The last use; null if the grant was never used. */
  readonly lastAt: Micros | null;
  /** Number of uses since the requested day. */
  readonly recent: number;
  /** The resource types in the recent uses, sorted. */
  readonly recentTypes: readonly string[];
}

/** A grant, and the real id of its record's Patient. */
export interface UsedGrant {
  readonly id: string;
  readonly record: string;
}

/**
 * Returns how often grants were used, by grant id; the result includes all given grants.
 * @param since counts `recent` from the beginning of the day (UTC) that contains this time. Default: no uses count as recent
 */
export type GrantUseOf = (
  grants: readonly UsedGrant[],
  since?: Micros,
) => Promise<ReadonlyMap<string, GrantUse>>;

interface Row {
  readonly grant_id: string;
  readonly count: number;
  readonly last_at: number | null;
  readonly recent: number;
  readonly types: string[] | null;
}

const DAY = 86_400_000_000;

/** No entry is later. */
const LATEST = 2 ** 31 - 1;

// Index: the primary key of access_use. A grant has a row for each day and type.
const USE = `
select g.grant_id, coalesce(u.count, 0)::float8 as count, u.last_at::float8 as last_at, coalesce(u.recent, 0)::float8 as recent, u.types
  from unnest($1::uuid[], $2::text[]) as g(record, grant_id)
 cross join lateral (
   select sum(u.reads) as count, max(u.last_at) as last_at, sum(u.reads) filter (where u.day >= $3::int4) as recent,
          array_agg(distinct u.resource_type) filter (where u.day >= $3::int4 and u.reads > 0 and u.resource_type <> '') as types
     from operations.access_use u
    where u.record = g.record and u.grant_id = g.grant_id) u`;

/** Opens the question. */
export function openGrantUse(pool: Pool): GrantUseOf {
  return async (grants, since) => {
    if (grants.length === 0) return new Map();
    const day = since === undefined ? LATEST : Math.floor(since / DAY);
    const values = [grants.map(({ record }) => record), grants.map(({ id }) => id), day];
    const { rows } = await pool.query<Row>({ name: 'grant-use', text: USE, values });
    return new Map(
      rows.map(({ grant_id, count, last_at, recent, types }) => [
        grant_id,
        { count, lastAt: last_at, recent, recentTypes: types ?? [] },
      ]),
    );
  };
}
