/** Queries about projects in any organization. They are used at startup, not by callers. */
import type { Pool } from 'pg';

/** The name of a newcomer's first project and of its organization. */
export const QUICKSTART = 'Quickstart';

/** Returns true if any project was ever created in this database. */
export async function anyProject(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ any: boolean }>('select exists (select from projects.project) as any');
  return rows[0]?.any ?? false;
}

/** Returns the oldest open project with the given name, and its organization; undefined if there is none. */
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

/**
 * Returns the organization that was created at the first startup, even if its project is closed; undefined if there is none.
 */
export async function findQuickstartOrganization(pool: Pool): Promise<string | undefined> {
  const { rows } = await pool.query<{ organization: string }>({
    name: 'quickstart-organization',
    text: 'select organization from projects.project where name = $1 order by created_at, id limit 1',
    values: [QUICKSTART],
  });
  return rows[0]?.organization;
}

/** Returns the issuers that match a LIKE pattern and were used by members of organizations to sign in, except the given one. */
export async function otherIssuers(pool: Pool, pattern: string, but: string): Promise<string[]> {
  const { rows } = await pool.query<{ issuer: string }>(
    'select distinct issuer from projects.member where issuer like $1 and issuer <> $2 and role is not null order by 1',
    [pattern, but],
  );
  return rows.map(({ issuer }) => issuer);
}

/** Returns an open project's name; undefined if the project doesn't exist or isn't open. */
export async function projectName(pool: Pool, id: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'project-name',
    text: 'select name from projects.project where id = $1 and deleted_at is null',
    values: [id],
  });
  return rows[0]?.name;
}

/**
 * Returns the open applications that somebody other than the operator marked as trusted, at most 100. Index:
 * application_trusted_by_others.
 */
export async function trustedByOthers(pool: Pool, except: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>({
    name: 'trusted-by-others',
    text: `select id from projects.application
      where trusted_by_others and deleted_at is null and id <> all($1::text[]) order by id limit 100`,
    values: [except],
  });
  return rows.map(({ id }) => id);
}
