/** Reads the number of a resource's newest version, to check whether a cached history is complete. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Line } from '../database/gather.ts';

/**
 * Returns the newest version's number; undefined if the caller can't see the resource. A deletion counts as a version. Also
 * undefined under a grant: a history then contains only the versions that the grant covers, and the newest number doesn't show
 * how many these are.
 */
export type NewestVersion = (caller: Caller, type: ResourceType, id: string) => Promise<number | undefined>;

interface Row {
  readonly id: string;
  readonly tenant: string;
  readonly type: ResourceType;
  readonly version: number;
}

// Index: primary key of history.version (id, version), backwards, once per key.
const NEWEST = `
  select v.id, v.tenant, v.type, v.version
  from unnest($1::uuid[]) k(id)
  cross join lateral (
    select n.id, n.tenant, n.type, n.version from history.version n
    where n.id = k.id order by n.version desc limit 1
  ) v`;

/** Creates the lookup of newest versions on a line; concurrent lookups share a statement. */
export function openNewestVersion(line: Pick<Line, 'gather'>): NewestVersion {
  const byId = line.gather<string, Row | undefined>(async (database, ids) => {
    const { rows } = await database.query<Row>({
      name: 'newest-version',
      text: NEWEST,
      values: [[...new Set(ids)]],
    });
    const found = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => found.get(id));
  });
  return async (caller, type, id) => {
    if (!isUuid(id) || caller.sees.within !== undefined) return undefined;
    const row = await byId(id);
    return row?.tenant === caller.sees.ownerId && row.type === type ? row.version : undefined;
  };
}
