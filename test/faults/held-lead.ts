/** Keeps a process from running on any instance. */
import pg from 'pg';
import { eventually } from '#test/support/process.ts';

/**
 * Interval in ms at which the session shows that it is alive. Instances end a leader's session after seconds without activity.
 */
const BEAT_MS = 500;

/**
 * Takes the lead of a process away from the instance that has it. The process's work stops until the lead is released.
 * @returns a function that releases the lead
 */
export async function holdLead(databaseUrl: string, name: string): Promise<() => Promise<void>> {
  const [holder, ender] = [await connect(databaseUrl), await connect(databaseUrl)];
  let isHeld = false;
  const leads = holder
    .query('SELECT pg_advisory_lock(hashtextextended($1, 1))', [`process/${name}`])
    .then(() => {
      isHeld = true;
    });
  await eventually(async () => {
    if (!isHeld) await ender.query(END_LEADER, [`annal ${name}`]);
    return isHeld;
  });
  await Promise.all([leads, ender.end()]);
  const beating = setInterval(() => void holder.query('SELECT').catch(() => undefined), BEAT_MS);
  return async () => {
    clearInterval(beating);
    await holder.end();
  };
}

/** Ends the sessions of instances that lead a process or try to. */
const END_LEADER = `
SELECT pg_terminate_backend(pid)
  FROM pg_stat_activity
 WHERE application_name = $1 AND datname = current_database()`;

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client;
}
