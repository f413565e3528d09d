/** Finds the project that a command reads. */
import type { Pool } from 'pg';
import type { Tenant } from '#src/shared/access/caller.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';

/** The command-line options that name a project. */
export interface ProjectOptions {
  /** Its id or its name. */
  readonly project?: string;
  readonly environment?: Tenant['environment'];
}

/** A project's environment, with the project's name. */
export interface NamedTenant extends Tenant {
  readonly name: string;
}

const NAMED = 10;

/**
 * Returns the project that the options name; if they name none, returns the only project. The environment is the sandbox
 * unless the options say otherwise.
 * @throws Failure if no project or several projects have that name, or if several projects exist and none is named.
 */
export async function tenantNamed(
  pool: Pool,
  { project, environment = 'sandbox' }: ProjectOptions,
): Promise<NamedTenant> {
  const { rows } = await pool.query<{ id: string; name: string }>(
    'select p.id, p.name from projects.project p order by p.name, p.id',
  );
  const found =
    project === undefined ? rows : rows.filter(({ id, name }) => project === id || project === name);
  const [only, ...others] = found;
  if (only === undefined)
    throw new Failure(
      project === undefined
        ? 'no project exists'
        : `unknown project ${project}: no project has this id or name`,
    );
  if (others.length === 0) return { project: only.id, name: only.name, environment };
  const list = found.slice(0, NAMED).map(({ id, name }) => `  ${name} (${id})`);
  const more = found.length > NAMED ? [`  … ${found.length - NAMED} more`] : [];
  throw new Failure(
    `${found.length} projects match; name one by its id with --project:\n${[...list, ...more].join('\n')}`,
    MISUNDERSTOOD,
  );
}
