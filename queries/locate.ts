/** Locate: which stream a resource is in, for the write side; deleted ones included. */
import type { Pool } from 'pg';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { gather } from './gather.ts';

/** A resource's place. */
export interface LocatedResource {
  readonly type: ResourceType;
  readonly id: string;
  readonly stream: string;
  readonly deleted: boolean;
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
  select r.id, r.tenant, r.type, r.stream, r.deleted
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

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
          own.set(id, { type: row.type, id, stream: row.stream, deleted: row.deleted });
        }
      }
      return own;
    });
  });
  return async (caller, ids) => {
    const known = ids.filter(isUuid);
    return known.length === 0 ? new Map() : gathered({ tenant: caller.tenantId, ids: known });
  };
}
