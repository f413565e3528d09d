/**
 * Finds which of the given resources were last written by an AI, after somebody else had written them
 * (docs/decisions/0025-changed-by-ai-is-said.md).
 */
import type { Pool } from 'pg';

/**
 * Returns those of the given resources (`Type/id`) that an AI changed after somebody else had written them. Doesn't check
 * permissions.
 */
export type ChangedByAi = (resources: readonly string[]) => Promise<ReadonlySet<string>>;

// Index: the primary keys of resources.resource and history.version.
const CHANGED = `
select r.type || '/' || r.id as name
from unnest($1::uuid[]) as a(id)
join resources.resource r on r.id = a.id and not r.deleted
join history.version v on v.id = r.id and v.version = r.version and v.metadata::json #>> '{author,type}' = 'ai'
where exists (
  select from history.version e
  where e.id = r.id and e.version < r.version and e.body is not null
    and e.metadata::json #>> '{author,type}' is distinct from 'ai')`;

/** Opens the question. */
export function openChangedByAi(pool: Pool): ChangedByAi {
  return async (resources) => {
    if (resources.length === 0) return new Set();
    const ids = resources.map((name) => name.split('/', 2)[1] ?? '');
    const { rows } = await pool.query<{ name: string }>({
      name: 'changed-by-ai',
      text: CHANGED,
      values: [ids],
    });
    return new Set(rows.map(({ name }) => name).filter((name) => resources.includes(name)));
  };
}
