/** Reads directory entries by id for the write side, which compares them with the entries in a Bundle. */
import type { Pool } from 'pg';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { seenStatement } from './sight.ts';

/** Reads the current bodies (FHIR JSON text) of live directory entries. */
export type DirectoryBodies = (
  caller: Caller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, { type: ResourceType; body: string }>>;

// Index: primary key of resources.resource (id). Rows without a record are directory entries.
const bodies = (seen: string): string => `
  select r.id, r.type, r.body
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = $2 and r.record is null and not r.deleted ${seen}`;

/**
 * Creates the query on a database.
 * @param requireFresh throws Refusal unavailable (503) if the read model lags, so that an inactive entry isn't read as active
 */
export function openDirectoryBodies(pool: Pool, requireFresh: () => void): DirectoryBodies {
  return async (caller, ids) => {
    const known = ids.filter(isUuid);
    if (known.length === 0) return new Map();
    requireFresh();
    const { sees } = caller;
    const values = [known, sees.ownerId];
    const { rows } = await pool.query<{ id: string; type: ResourceType; body: string }>(
      seenStatement(sees, { name: 'directory-bodies', values }, 'r', { as: 'r', of: 'current' }, bodies),
    );
    return new Map(rows.map(({ id, type, body }) => [id, { type, body }]));
  };
}
