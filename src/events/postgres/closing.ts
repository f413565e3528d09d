/**
 * Closes a log in PostgreSQL to writers on every instance at once. A trigger refuses their inserts with the
 * error of a standby, so they answer 503, and the append path needs no check. The trigger is created under a
 * lock that waits for appends in flight, so no events follow once it exists.
 */
import pg from 'pg';

/** The session setting that exempts the copier from the trigger. */
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

/** Returns the URL with which a log can be written while it is closed. */
export function exempt(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c ${EXEMPT}=on`)}`;
}

/** Refuses every write from now on; waits for those in flight. Idempotent. The schema exists. */
export async function closeLog(url: string): Promise<void> {
  await run(url, CLOSE);
}

/** Lets writers in again. Idempotent. */
export async function reopenLog(url: string): Promise<void> {
  await run(url, REOPEN);
}

/** Returns true if the log is closed; false if it doesn't exist. */
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
