/** Records once a day how large the database and the documents are, so that operators can see what grows. */
import type { Pool } from 'pg';

/** The DDL of a separate migration. */
export const SIZE_SAMPLES_SQL = `
CREATE TABLE operations.size_sample (
  day date PRIMARY KEY,                -- UTC
  database int8 NOT NULL,              -- bytes
  schemas json NOT NULL,               -- bytes by name
  documents json                       -- count and bytes; null: their store could not be asked
);`;

const FIRST_MS = 60_000;
const LOOK_MS = 60 * 60_000;

const DUE = `select not exists (
  select from operations.size_sample where day = (now() at time zone 'utc')::date) as due`;

const NOTE = `
insert into operations.size_sample (day, database, schemas, documents)
select (now() at time zone 'utc')::date, pg_database_size(current_database()),
  (select json_object_agg(s.name, s.bytes) from (
     select n.nspname as name, sum(pg_total_relation_size(c.oid))::int8 as bytes
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'm') and n.nspname !~ '^(pg_|information_schema$)' group by n.nspname) s), $1
on conflict (day) do nothing`;

/** The number and total size of the documents' contents. */
interface Counted {
  readonly count: number;
  readonly bytes: number;
}

/** Takes the samples. */
export class SizeSamples {
  #timers: NodeJS.Timeout[] = [];

  /** @param list lists the contents of documents */
  constructor(
    private readonly pool: Pool,
    private readonly list: () => AsyncIterable<{ readonly bytes: number }>,
  ) {}

  /** Starts taking samples; a failure is retried an hour later. */
  start(): void {
    const look = (): void => void this.take().catch(() => undefined);
    this.#timers = [setTimeout(look, FIRST_MS).unref(), setInterval(look, LOOK_MS).unref()];
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Takes today's sample, unless it has already been taken. */
  async take(): Promise<void> {
    const { rows } = await this.pool.query<{ due: boolean }>(DUE);
    if (rows[0]?.due !== true) return;
    const documents = await this.#count().catch(() => null);
    await this.pool.query(NOTE, [documents]);
  }

  async #count(): Promise<Counted> {
    let count = 0;
    let bytes = 0;
    for await (const blob of this.list()) {
      count += 1;
      bytes += blob.bytes;
    }
    return { count, bytes };
  }
}
