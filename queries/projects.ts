/** Projects, of whatever organization. Asked by the start, not by callers. */
import type { Pool } from 'pg';

/** Returns true if a project was ever created on this database. */
export async function anyProject(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ any: boolean }>('select exists (select from projects.project) as any');
  return rows[0]?.any ?? false;
}

/** Returns the oldest open project with a name, and its organization; undefined when there is none. */
export async function firstProject(
  pool: Pool,
  name: string,
): Promise<{ readonly project: string; readonly organization: string } | undefined> {
  const { rows } = await pool.query<{ project: string; organization: string }>(
    'select id as project, organization from projects.project where name = $1 and deleted_at is null order by created_at, id limit 1',
    [name],
  );
  return rows[0];
}

/** Returns the name of an open project; undefined if there is none. */
export async function projectName(pool: Pool, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'project-name',
    text: 'select name from projects.project where id = $1 and deleted_at is null',
    values: [id],
  });
  return rows[0]?.name;
}
