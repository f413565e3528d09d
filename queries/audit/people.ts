/** Finds people for auditors, who know e-mail addresses and not subjects. */
import type { Pool } from 'pg';

/** Returns the pattern of `like` that matches texts in lower case that contain a text. */
export function containing(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
}

/**
 * Returns the subjects of a project's members, removed ones too, whose e-mail address contains a text. Indexes: primary
 * keys of projects.project and projects.member (organization, issuer, subject).
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
