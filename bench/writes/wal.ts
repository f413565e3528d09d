/** Counts what PostgreSQL wrote. Its log records each row change, so counts are exact, even on a busy machine. */
import type { Bench } from '../bench.ts';

/** Writes to one table, its TOAST table or one index; or records that belong to none of these, such as commits. */
export interface Written {
  /** `schema.name`, or the kind of record. */
  readonly name: string;
  readonly inserts: number;
  readonly updates: number;
  /** Number of updates that didn't change any index. */
  readonly hot: number;
  readonly deletes: number;
  readonly records: number;
  /** Bytes without full-page images, because the number of these depends on when the last checkpoint happened. */
  readonly bytes: number;
}

/** A position in PostgreSQL's log. */
export type Lsn = string;

/** Returns the current position. Before the first count in a database, installs the functions that read PostgreSQL's log. */
export async function walPosition(bench: Bench, url: string): Promise<Lsn> {
  await bench.query(url, 'create extension if not exists pg_walinspect');
  const [row] = await bench.query<{ lsn: Lsn }>(url, 'select pg_current_wal_insert_lsn()::text as lsn');
  if (row === undefined) throw new Error('PostgreSQL has no position');
  return row.lsn;
}

// A record that changes several blocks is counted under the first block; its bytes are divided among all of them.
const WRITTEN = (from: Lsn, to: Lsn): string => `
with block as materialized (
  select b.*, count(*) over w as blocks, row_number() over w as nth, sum(block_fpi_length) over w as images
  from pg_get_wal_block_info('${from}', '${to}', false) b window w as (partition by start_lsn)
), named as (
  select coalesce(case when reldatabase = (select oid from pg_database where datname = current_database())
      then pg_filenode_relation(case when reltablespace = 1663 then 0 else reltablespace end, relfilenode)::regclass::text end,
      'other') as name,
    record_type as type, resource_manager as manager, nth, (record_length - images) / blocks::float8 as bytes
  from block
  union all
  select resource_manager || ' ' || record_type, record_type, resource_manager, 1, record_length
  from pg_get_wal_records_info('${from}', '${to}') where coalesce(block_ref, '') = ''
)
select coalesce((select 'toast of ' || c.oid::regclass::text from pg_class c where c.reltoastrelid = to_regclass(n.name)), n.name) as name,
  count(*) filter (where nth = 1 and manager = 'Heap' and type like 'INSERT%')::int as inserts,
  count(*) filter (where nth = 1 and manager = 'Heap' and type like '%UPDATE%')::int as updates,
  count(*) filter (where nth = 1 and manager = 'Heap' and type like 'HOT_UPDATE%')::int as hot,
  count(*) filter (where nth = 1 and manager = 'Heap' and type like 'DELETE%')::int as deletes,
  count(*) filter (where nth = 1)::int as records, round(sum(bytes))::float8 as bytes
from named n group by 1 order by bytes desc`;

/**
 * Returns what was written between two positions, sorted by bytes in descending order. For indexes, only records and bytes are
 * counted.
 */
export function readWritten(bench: Bench, url: string, from: Lsn, to: Lsn): Promise<Written[]> {
  return bench.query<Written & Record<string, unknown>>(url, WRITTEN(from, to));
}
