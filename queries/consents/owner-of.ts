/** Reads which project owns a record. */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { Tenant } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';

/**
 * Reads a record's owner, even while the record's Patient is deleted; undefined for an unknown id. Doesn't check permissions.
 * @param record a Patient's real id
 */
export type OwnerOf = (record: string) => Promise<Tenant | undefined>;

const owner = z.object({ project: z.string(), environment: z.enum(['sandbox', 'production']) });

// Index: primary key of history.version (id, version). The first event of a record says whose it is.
const OWNER = `select v.metadata::json -> 'owner' as owner from history.version v where v.id = $1 and v.version = 1 and v.type = 'Patient'`;

/** Opens the question. */
export function openOwners(pool: Pool): OwnerOf {
  return async (record) => {
    if (!isUuid(record)) return undefined;
    const { rows } = await pool.query<{ owner: unknown }>({
      name: 'owner-of-record',
      text: OWNER,
      values: [record],
    });
    const [found] = rows;
    return found === undefined ? undefined : owner.parse(found.owner);
  };
}
