/** Lists a record's entries that have been added, changed or deleted since a given time, newest first. */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';

/** A group of versions of the same kind that authors of the same type wrote in the same way. */
export interface Change {
  /** The resource in the group that was written most recently. */
  readonly id: string;
  readonly count: number;
  readonly type: string;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly at: Micros;
  /** The title as in the timeline; null for entries that the timeline doesn't show. */
  readonly title: string | null;
  /** The code system, if the title is a code. */
  readonly titleSystem: string | null;
  readonly author: string;
}

/** The newest kinds of changes, and how many changes there are. */
export interface Changes {
  readonly changes: readonly Change[];
  readonly total: number;
}

/**
 * Reads a record's changes after a given time; if a resource was changed several times, only its last change. Changes with the
 * same type and title are of one kind. Provenances don't count. Doesn't check permissions.
 * @param most the maximum number of kinds to return
 */
export type ChangesOf = (record: string, since: Micros, most: number) => Promise<Changes>;

// Indexes: history.version_of_record (record, recorded_at), and the primary key of timeline.entry (id, version).
const CHANGES = `
with v as materialized (
  select distinct on (v.id) v.id, v.version, v.type, v.operation, v.recorded_at, v.metadata
  from history.version v where v.record = $1::uuid and v.recorded_at > $2 and v.type <> 'Provenance'
  order by v.id, v.version desc)
select (array_agg(v.id order by v.recorded_at desc, v.id))[1] as id, count(*)::int as count, v.type, v.operation,
  max(v.recorded_at)::float8 as at, e.title, e.title_system as "titleSystem", v.author,
  (select count(*) from v)::int as total
from (select *, coalesce(metadata::json -> 'author' ->> 'type', 'import') as author from v) v
left join timeline.entry e on e.id = v.id and e.version = v.version
group by v.type, v.operation, e.title, e.title_system, v.author
order by at desc, id limit $3`;

/** Opens the question. */
export function openChanges(pool: Pool): ChangesOf {
  return async (record, since, most) => {
    const { rows } = await pool.query<Change & { readonly total: number }>({
      name: 'changes-of-record',
      text: CHANGES,
      values: [record, since, most],
    });
    return { changes: rows, total: rows[0]?.total ?? 0 };
  };
}
