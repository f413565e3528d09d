/** Read: the current version of a resource, https://hl7.org/fhir/R4/http.html#read */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Line } from './gather.ts';

/** A resource as it stands now. */
export interface CurrentResource {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  /** When that version was recorded. */
  readonly lastUpdated: Micros;
  /** The exact FHIR JSON text; null when the resource is deleted. */
  readonly body: string | null;
}

/** Reads a resource for a caller; undefined when there is none that the caller may see. */
export type Read = (caller: Caller, type: ResourceType, id: string) => Promise<CurrentResource | undefined>;

/** Whose resource is looked up. */
interface Key {
  readonly tenant: string;
  readonly id: string;
}

interface Row extends Key {
  readonly type: ResourceType;
  readonly version: number;
  readonly last_updated: Micros;
  readonly body: string | null;
}

// Index: primary key of resources.resource (id).
const READ = `
  select r.id, r.tenant, r.type, r.version, r.last_updated, r.body
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

/**
 * Opens a look-up of a tenant's resource over a line; those that arrive together share a statement.
 * @param name of the statement.
 * @param text which takes ids and tenants, and gives at most one row for an id.
 */
export function resourceByKey<R extends Key>(
  line: Line,
  name: string,
  text: string,
): (key: Key) => Promise<R | undefined> {
  return line.gather<Key, R | undefined>(async (database, keys) => {
    const tenants = new Set(keys.map((key) => key.tenant));
    const values = [keys.map((key) => key.id), [...tenants]];
    const { rows } = await database.query<R>({ name, text, values });
    const found = new Map(rows.map((row) => [row.id, row]));
    return keys.map((key) => {
      const row = found.get(key.id);
      return row?.tenant === key.tenant ? row : undefined;
    });
  });
}

/** Opens reads over a line. */
export function openRead(line: Line): Read {
  const byKey = resourceByKey<Row>(line, 'read', READ);
  return async (caller, type, id) => {
    if (!isUuid(id)) return undefined;
    const row = await byKey({ tenant: caller.tenantId, id });
    if (row?.type !== type) return undefined;
    return { id, type, version: row.version, lastUpdated: row.last_updated, body: row.body };
  };
}
