/** Reads a Provenance by id: either a Provenance that a client wrote, or an automatic one, whose id is that of its event. */
import type { Pool } from 'pg';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { CurrentResource } from '../read.ts';
import { seenProvenances } from '../sight.ts';
import { provenanceTexts, type RecordedVersion } from './resource.ts';

/** A Provenance, and whether the service generated it. If so, it has only one version and can't be written. */
export type FoundProvenance = CurrentResource & { readonly automatic: boolean };

/** Reads a Provenance; undefined if none with this id exists that the caller may see. */
export type ReadProvenance = (caller: Caller, id: string) => Promise<FoundProvenance | undefined>;

interface Row extends RecordedVersion {
  readonly automatic: boolean;
  readonly body: string | null;
}

// Indexes: primary key of resources.resource (id); history.version_event (event_id).
const read = (own: () => string, automatic: () => string): string => `
  select false as automatic, r.id, r.type, r.version, r.last_updated as recorded_at, r.body,
    r.id as event_id, null as operation, null as metadata
  from resources.resource r
  where r.id = $1 and r.tenant = $2 and r.type = 'Provenance' ${own()}
  union all
  select true, v.id, v.type, v.version, v.recorded_at, null, v.event_id, v.operation, v.metadata
  from history.version v
  where v.event_id = $1 and v.tenant = $2 ${automatic()}`;

/** Creates the query on a database. */
export function openReadProvenance(pool: Pool): ReadProvenance {
  return async (caller, id) => {
    if (!isUuid(id)) return undefined;
    const { sees } = caller;
    const { rows } = await pool.query<Row>(
      seenProvenances(sees, { name: 'provenance-read', values: [id, sees.ownerId] }, 'r', read),
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const { automatic } = row;
    const found = { id, type: 'Provenance' as const, lastUpdated: row.recorded_at, automatic };
    if (!automatic) return { ...found, version: row.version, body: row.body };
    const [body = null] = await provenanceTexts(pool, caller.calls.projectId, [row]);
    return { ...found, version: 1, body };
  };
}
