/**
 * Closes a log in PostgreSQL to the writers of all instances at once. A trigger rejects their inserts with the error of a
 * standby, so that requests get 503 and appends need no extra check. The trigger is created under a lock that waits for
 * appends in progress, so no events are added once it exists.
 */
import pg from 'pg';

/** The session setting that exempts the process that copies the log from the trigger. */
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

/** Returns a URL that allows writing to a log while it is closed. */
export function exempt(url: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}options=${encodeURIComponent(`-c ${EXEMPT}=on`)}`;
}

/** Makes the log refuse every write from now on; waits for writes in progress. Idempotent. The schema must exist. */
export async function closeLog(url: string): Promise<void> {
  await run(url, CLOSE);
}

/** Allows writes again. Idempotent. */
export async function reopenLog(url: string): Promise<void> {
  await run(url, REOPEN);
}

/** Returns true if the log is closed; false if it is open or doesn't exist. */
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
