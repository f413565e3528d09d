/** Locate: which stream a resource is in, for the write side; deleted ones included. */
import type { Pool } from 'pg';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { gather } from './gather.ts';

/** A resource's place. */
export interface LocatedResource {
  readonly type: ResourceType;
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly deleted: boolean;
  /** A Provenance that is the view of an event. */
  readonly automatic?: boolean;
}

/** Finds resources by id; what the caller may not see is absent, as if it never was. */
export type Locate = (
  caller: Caller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, LocatedResource>>;

interface Key {
  readonly tenant: string;
  readonly ids: readonly string[];
}

// Index: primary key of resources.resource (id).
const LOCATE = `
  select r.id, r.tenant, r.type, r.stream, r.version, r.deleted
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

// Index: history.version (event_id). Asked only for ids that are no resource's.
const AUTOMATIC = `
  select v.event_id as id, v.record
  from history.version v
  where v.event_id = any($1::uuid[]) and v.tenant = $2`;

/** Opens locating over a database; look-ups that arrive together share a statement. */
export function openLocate(pool: Pool): Locate {
  const gathered = gather<Key, ReadonlyMap<string, LocatedResource>>(async (keys) => {
    const { rows } = await pool.query<LocatedResource & { tenant: string }>({
      name: 'locate',
      text: LOCATE,
      values: [[...new Set(keys.flatMap(({ ids }) => ids))], [...new Set(keys.map(({ tenant }) => tenant))]],
    });
    const found = new Map(rows.map((row) => [row.id, row]));
    return keys.map(({ tenant, ids }) => {
      const own = new Map<string, LocatedResource>();
      for (const id of ids) {
        const row = found.get(id);
        if (row?.tenant === tenant) {
          const { type, stream, version, deleted } = row;
          own.set(id, { type, id, stream, version, deleted });
        }
      }
      return own;
    });
  });
  return async (caller, ids) => {
    const known = ids.filter(isUuid);
    if (known.length === 0) return new Map();
    const found = await gathered({ tenant: caller.sees.ownerId, ids: known });
    return found.size === new Set(known).size ? found : withAutomatic(pool, caller.sees, known, found);
  };
}

async function withAutomatic(
  pool: Pool,
  { owner, ownerId }: Sees,
  ids: readonly string[],
  found: ReadonlyMap<string, LocatedResource>,
): Promise<ReadonlyMap<string, LocatedResource>> {
  const { rows } = await pool.query<{ id: string; record: string | null }>({
    name: 'locate-automatic',
    text: AUTOMATIC,
    values: [ids.filter((id) => !found.has(id)), ownerId],
  });
  const all = new Map(found);
  for (const { id, record } of rows) {
    const stream = record === null ? directoryStream(owner) : recordStream(record);
    all.set(id, { type: 'Provenance', id, stream, version: 1, deleted: false, automatic: true });
  }
  return all;
}
