/**
 * `older-log.json`: the log of a service of commit 2a2c921, as it wrote it. Its resources passed the rules of that day and
 * would be refused now.
 */
import { readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import { LOG_SCHEMA_SQL } from '#src/events/postgres/schema.ts';

/** A row of `log.events`. */
export interface OlderEvent {
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

/** A log with the key of its project. */
export interface OlderLog {
  readonly key: string;
  /** What a resource is about → `Type/id`. */
  readonly ids: Readonly<Record<string, string>>;
  readonly events: readonly OlderEvent[];
}

/** The log of that commit. */
export function olderLog(): OlderLog {
  return JSON.parse(readFileSync(new URL('./older-log.json', import.meta.url), 'utf8')) as OlderLog;
}

/** Puts a log into a database whose own is empty, byte for byte. */
export async function putLog(pool: Pool, { events }: OlderLog): Promise<void> {
  await pool.query(LOG_SCHEMA_SQL);
  await pool.query(
    'insert into log.events select * from json_populate_recordset(null::log.events, $1) order by position',
    [JSON.stringify(events)],
  );
  await pool.query("select setval('log.positions', max(position)) from log.events");
}
