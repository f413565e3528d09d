/**
 * Closing a log in PostgreSQL to its writers, on every instance at once: a trigger refuses what they write as a standby
 * would, so it answers 503, and the append path has nothing to look at. It is made under a lock that waits for appends in
 * flight; who has it made knows that nothing more comes.
 */
import pg from 'pg';

/** The session setting of who may write all the same: the copier. */
const EXEMPT = 'annal.moving';

const CLOSE = `
CREATE OR REPLACE FUNCTION log.refuse_writes() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  IF current_setting('${EXEMPT}', true) IS DISTINCT FROM 'on' THEN
    RAISE EXCEPTION 'the event log is closed: it is being moved, or was' USING ERRCODE = 'read_only_sql_transaction';
  END IF;
  RETURN NULL;
END
$body$;
CREATE OR REPLACE TRIGGER closed BEFORE INSERT OR DELETE ON log.events
  FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_writes();`;

const REOPEN = 'DROP TRIGGER IF EXISTS closed ON log.events; DROP FUNCTION IF EXISTS log.refuse_writes();';

/** The URL of a log for who may write to it while it is closed. */
export function exempt(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c ${EXEMPT}=on`)}`;
}

/** Refuses every write from now on; waits for those in flight. Idempotent. The schema is there. */
export async function closeLog(url: string): Promise<void> {
  await run(url, CLOSE);
}

/** Lets writers in again. Idempotent. */
export async function reopenLog(url: string): Promise<void> {
  await run(url, REOPEN);
}

/** Whether it is closed; false where there is none. */
export async function isClosed(url: string): Promise<boolean> {
  const rows = await run(
    url,
    "SELECT FROM pg_trigger WHERE tgrelid = to_regclass('log.events') AND tgname = 'closed'",
  );
  return rows > 0;
}

async function run(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url, application_name: 'annal migrate-log' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rowCount ?? 0;
  } finally {
    await client.end();
  }
}
