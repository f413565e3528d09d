/** Read: the current version of a resource, https://hl7.org/fhir/R4/http.html#read */
import type { ResourceType } from '#src/fhir/types.ts';
import type { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Caller, Sees } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time.ts';
import type { Line } from './gather.ts';
import { bodyOrSize, sizeOfLarge, withLargeBodies } from './large-bodies.ts';
import type { Asks } from './prepared.ts';

/** The current version of a resource. */
export interface CurrentResource {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  /** The time at which that version was recorded. */
  readonly lastUpdated: Micros;
  /** The exact FHIR JSON text; null when the resource is deleted. */
  readonly body: string | null;
}

/**
 * Reads a resource for a caller; undefined when it doesn't exist or the caller may not see it.
 * @param budget of the response that will contain it: a body that doesn't fit isn't read.
 * @throws Refusal as `AnswerBudget.requireRoom`
 */
export type Read = (
  caller: Caller,
  type: ResourceType,
  id: string,
  budget?: AnswerBudget,
) => Promise<CurrentResource | undefined>;

/** The resource and its tenant. */
type Key = [id: string, tenant: string];

/** The columns that say all of it. */
export type ResourceRow = [
  ...Key,
  type: ResourceType,
  version: number,
  lastUpdated: Micros,
  body: string | null,
];

// Index: primary key of resources.resource (id).
const READ = `
  select r.id, r.tenant, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

/**
 * Opens a lookup of a tenant's resource over a line; concurrent lookups share a statement.
 * @param name of the statement.
 * @param text the SQL: it takes ids and tenants, and returns at most one row per id, whose first columns are
 * the key.
 */
export function resourceByKey<R extends [...Key, ...unknown[]]>(
  line: Line,
  name: string,
  text: string,
): (key: Key) => Promise<R | undefined> {
  return line.gather<Key, R | undefined>(async (database, keys) => {
    const tenants = new Set(keys.map(([, tenant]) => tenant));
    const values = [keys.map(([id]) => id), [...tenants]];
    // As arrays: objects with a member per column are slower in the driver.
    const { rows } = await database.query<R>({ name, text, values, rowMode: 'array' });
    const found = new Map(rows.map((row) => [row[0], row]));
    return keys.map(([id, tenant]) => {
      const row = found.get(id);
      return row?.[1] === tenant ? row : undefined;
    });
  });
}

/**
 * Returns a resource, reading its body if it is large.
 * @param budget as in `Read`.
 * @throws Refusal unavailable (503) when the version was replaced meanwhile and no read model has it now
 */
export async function wholeResource<R extends CurrentResource>(
  pool: Asks,
  sees: Pick<Sees, 'ownerId'>,
  resource: R,
  budget?: AnswerBudget,
): Promise<R> {
  const size = resource.body === null ? undefined : sizeOfLarge(resource.body);
  if (size === undefined) return resource;
  budget?.requireRoom(size);
  const [whole] = await withLargeBodies(pool, sees, [resource]);
  if (whole === undefined) throw unavailable('the resource is being changed; retry in a second');
  return whole;
}

/** Opens reads over a line; large bodies are read one by one over a pool, so that many together are never in memory. */
export function openRead(line: Line, pool: Asks): Read {
  const byKey = resourceByKey<ResourceRow>(line, 'read', READ);
  return async (caller, type, id, budget) => {
    if (!isUuid(id)) return undefined;
    const row = await byKey([id, caller.sees.ownerId]);
    if (row?.[2] !== type) return undefined;
    const [, , , version, lastUpdated, body] = row;
    return wholeResource(pool, caller.sees, { id, type, version, lastUpdated, body }, budget);
  };
}
