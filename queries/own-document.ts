/**
 * Finds a document that an application created under a grant: the application may upload the document's content even if it
 * isn't allowed to read the document.
 */
import type { Pool } from 'pg';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { LocatedResource } from './locate.ts';

/**
 * Returns the document; undefined without a grant, and for a document that the application didn't create in the grant's
 * record.
 */
export type OwnDocument = (caller: Caller, id: string) => Promise<LocatedResource | undefined>;

// Indexes: primary keys of history.version (id, version) and resources.resource (id).
const OWN = `
  select r.id, r.type, r.stream, r.version, r.deleted
  from history.version v join resources.resource r on r.id = v.id
  where v.id = $1 and v.version = 1 and v.tenant = $2 and v.record = $3 and v.type = 'DocumentReference'
    and v.metadata::jsonb #>> '{credential,kind}' = 'grant'
    and v.metadata::jsonb #>> '{credential,application}' = $4`;

/** Creates the query on a database. */
export function openOwnDocument(pool: Pool): OwnDocument {
  return async ({ calls: { credential }, sees }, id) => {
    if (sees.within === undefined || credential.kind !== 'grant' || !isUuid(id)) return undefined;
    const values = [id, sees.ownerId, sees.within.record, credential.applicationId];
    const { rows } = await pool.query<LocatedResource>({ name: 'own-document', text: OWN, values });
    return rows[0];
  };
}
