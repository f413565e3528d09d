/** Finds what was taken back in a record, for the people to whom the record belongs. */
import type { Pool } from 'pg';
import type { Micros } from '#src/shared/time/time.ts';

/** A take-back that changed a record. */
export interface OwnTakeback {
  readonly id: string;
  readonly at: Micros;
  readonly undone_at: Micros | null;
  readonly reason: string | null;
  /** The source system and author type by which versions were selected. */
  readonly source: string | null;
  readonly author: string | null;
  /** Number of entries that were changed. */
  readonly total: number;
  /** The first of them. */
  readonly entries: readonly { readonly type: string; readonly id: string }[];
}

/** Reads the newest take-backs in a record. Doesn't check permissions. */
export type OwnTakebacks = (record: string) => Promise<readonly OwnTakeback[]>;

/** The maximum number of take-backs, and of entries to list for each. */
const MOST = 20;
const MOST_ENTRIES = 50;

// Indexes: takeback_stream_of_record; the primary key of history.version (id, version).
const TEXT = `
select t.id, t.started_at as at, case when s.undone > 0 then t.undone_at end as undone_at, t.reason,
  t.selected ->> 'source_system' as source, t.selected ->> 'author_type' as author, s.taken as total,
  (select coalesce(json_agg(e), '[]') from (
    select distinct v.type, v.id from history.version v
     where v.id = any(s.resources) and v.metadata::json ->> 'cause' = 'takeback/' || t.id
     order by v.type, v.id limit ${MOST_ENTRIES}) e) as entries
  from operations.takeback_stream s join operations.takeback t on t.id = s.takeback
 where s.record = $1 and s.taken > 0
 order by t.started_at desc limit ${MOST}`;

/** Opens the question. */
export function openOwnTakebacks(pool: Pool): OwnTakebacks {
  return async (record) =>
    (await pool.query<OwnTakeback>({ name: 'own-takebacks', text: TEXT, values: [record] })).rows;
}
