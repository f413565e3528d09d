/** Projects: so far only whether there is any, of whatever organization. Asked by the start, not by callers. */
import type { Pool } from 'pg';

/** Whether a project was ever opened on this database. */
export async function anyProject(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ any: boolean }>('select exists (select from projects.project) as any');
  return rows[0]?.any ?? false;
}
