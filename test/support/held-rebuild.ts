/** Blocks a rebuild at its first step; reads and the serving tables aren't affected. */
import pg from 'pg';

/**
 * Creates leftovers of an earlier rebuild, which every rebuild removes first, and locks them.
 * @returns a function that lets the rebuild continue
 */
export async function holdRebuild(databaseUrl: string, model: string): Promise<() => Promise<void>> {
  const session = new pg.Client({ connectionString: databaseUrl });
  // Stopping the database also ends this session.
  session.on('error', () => undefined);
  await session.connect();
  await session.query(
    `create schema if not exists ${model}_old; create table if not exists ${model}_old.held (n int)`,
  );
  await session.query('begin');
  await session.query(`lock table ${model}_old.held in access share mode`);
  return () => session.end();
}

/** Returns whether `holdRebuild` is blocking a rebuild. */
export async function isHeld(pool: pg.Pool, model: string): Promise<boolean> {
  const { rows } = await pool.query<{ held: boolean }>(
    `select exists (select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock') as held`,
    [`annal rebuild ${model}`],
  );
  return rows[0]?.held ?? false;
}
