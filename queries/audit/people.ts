/** Finds people for auditors, who know people's e-mail addresses but not their subjects. */
import type { Pool } from 'pg';

/** Returns the `like` pattern that matches lower-case text that contains the given text. */
export function containing(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Returns the subjects of those members of a project's organization, including removed members, whose e-mail address contains
 * the given text. Indexes: primary keys of projects.project and projects.member (organization, issuer, subject).
 */
export async function findPeople(pool: Pool, project: string, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ subject: string }>({
    name: 'audit-people',
    text: `select distinct m.subject from projects.project p
      join projects.member m on m.organization = p.organization
      where p.id = $1 and lower(m.email) like $2`,
    values: [project, containing(text)],
  });
  return rows.map(({ subject }) => subject);
}
