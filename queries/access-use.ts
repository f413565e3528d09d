/** How often grants were used, from the access log (docs/spec/decisions.md, section 4, `access_count`, `last_access_at`). */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time.ts';

/** The reads under a grant that showed something of the record; refused ones don't count. */
export interface GrantUse {
  /** All of them. */
  readonly count: number;
  /** The last one; null without any. */
  readonly lastAt: Micros | null;
  /** Those since the moment that was asked for. */
  readonly recent: number;
  /** The resource types that those were about, sorted. */
  readonly recentTypes: readonly string[];
}

/**
 * Returns how often grants were used, by id; all of the given ids are in it.
 * @param since counts `recent` from this moment. Default: none is recent
 */
export type GrantUseOf = (
  grants: readonly string[],
  since?: Micros,
) => Promise<ReadonlyMap<string, GrantUse>>;

interface Row {
  readonly grant_id: string;
  readonly count: number;
  readonly last_at: number | null;
  readonly recent: number;
  readonly types: string[] | null;
}

/** No entry is later. */
const LATEST = Number.MAX_SAFE_INTEGER;

// Index only: access_entry_of_grant (grant_id, seq) with at, status and resource_type.
const USE = `
select g.grant_id, e.count::float8 as count, e.last_at::float8 as last_at, e.recent::float8 as recent, e.types
  from unnest($1::text[]) as g(grant_id)
 cross join lateral (
   select count(*) as count, max(e.at) as last_at, count(*) filter (where e.at >= $2::int8) as recent,
          array_agg(distinct e.resource_type) filter (where e.at >= $2::int8 and e.resource_type is not null) as types
     from operations.access_entry e
    where e.grant_id = g.grant_id and e.status = 'ok') e`;

/** Opens the question. */
export function openGrantUseOf(pool: Pool): GrantUseOf {
  return async (grants, since = LATEST) => {
    if (grants.length === 0) return new Map();
    const { rows } = await pool.query<Row>({ name: 'grant-use', text: USE, values: [grants, since] });
    return new Map(
      rows.map(({ grant_id, count, last_at, recent, types }) => [
        grant_id,
        { count, lastAt: last_at, recent, recentTypes: types ?? [] },
      ]),
    );
  };
}
