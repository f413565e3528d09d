/** The size of the database, by schema and table, and how the size has grown, with one sample per day. */
import type { Pool } from 'pg';

/** A table with its indexes. */
export interface TableSize {
  readonly name: string;
  readonly bytes: number;
  /** The database's estimate of the number of rows; null if it has never estimated it. */
  readonly rows: number | null;
}

/** A schema: a read model, the log, or tables that aren't derived from the log. */
export interface SchemaSize {
  readonly name: string;
  readonly bytes: number;
  readonly tables: readonly TableSize[];
}

/** The sizes on one day. */
export interface SizeSample {
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string;
  readonly database: number;
  /** Bytes by schema name. */
  readonly schemas: Readonly<Record<string, number>>;
  /** The size of the documents' content; null if the document store couldn't be reached. */
  readonly documents: { readonly count: number; readonly bytes: number } | null;
}

/** The sizes of all stored data. */
export interface Sizes {
  readonly database: number;
  readonly schemas: readonly SchemaSize[];
  /** The newest 90 samples, oldest first. */
  readonly samples: readonly SizeSample[];
}

const SCHEMAS = `
select s.name, sum(s.bytes)::int8 as bytes,
       json_agg(json_build_object('name', s.table, 'bytes', s.bytes, 'rows', s.rows) order by s.bytes desc, s.table) as tables
  from (
    select n.nspname as name, c.relname as table, pg_total_relation_size(c.oid) as bytes,
           case when c.reltuples >= 0 then c.reltuples::int8 end as rows
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'm') and n.nspname !~ '^(pg_|information_schema$)') s
 group by s.name order by bytes desc, s.name`;

const SAMPLES = `
select to_char(day, 'YYYY-MM-DD') as day, database, schemas, documents from operations.size_sample
 order by day desc limit 90`;

/** Reads the sizes. */
export async function readSizes(pool: Pool): Promise<Sizes> {
  const [whole, schemas, samples] = await Promise.all([
    pool.query<{ bytes: number }>('select pg_database_size(current_database()) as bytes'),
    pool.query<SchemaSize>({ name: 'schema-sizes', text: SCHEMAS }),
    pool.query<SizeSample>({ name: 'size-samples', text: SAMPLES }),
  ]);
  return { database: whole.rows[0]?.bytes ?? 0, schemas: schemas.rows, samples: samples.rows.reverse() };
}
