/** Read: the current version of a resource, https://hl7.org/fhir/R4/http.html#read */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Line } from './database/gather.ts';
import type { Asks } from './database/prepared.ts';
import { bodyOrSize, sizeOfLarge, withLargeBodies } from './large-bodies.ts';
import { type SightKey, seenByKey, seenStatement, sightKey } from './sight.ts';

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

/** The columns of a resource `r` that a lookup reads. */
interface Columns {
  /** Id and tenant, the key, come first. */
  readonly columns: string;
  readonly joins?: string;
}

const COLUMNS: Columns = {
  columns: `r.id, r.tenant, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body`,
};

// Index: primary key of resources.resource (id).
const byTenant = ({ columns, joins = '' }: Columns): string => `
  select ${columns}
  from resources.resource r${joins}
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

// The same index, once per key. Each key has the visibility of its own caller.
const bySight = ({ columns, joins = '' }: Columns): string => `
  select k.n, ${columns}
  from json_to_recordset($1::json) k(n int, id uuid, type text, tenant uuid, record uuid, home text, categories int8[])
  cross join lateral (select r.* from resources.resource r where r.id = k.id and ${seenByKey('r')} offset 0) r${joins}`;

// The same index. The targets of a Provenance decide, so such lookups don't share a statement.
const byTargets =
  ({ columns, joins = '' }: Columns) =>
  (seen: string): string =>
    `
  select ${columns}
  from resources.resource r${joins}
  where r.id = $1 and r.tenant = $2 and r.type = 'Provenance' ${seen}`;

/** Reads a row that a caller sees; undefined if there is none. */
type ByKey<R> = (sees: Sees, type: ResourceType, id: string) => Promise<R | undefined>;

/**
 * Opens a lookup of resources that callers see over a line; concurrent lookups share a statement.
 * @param name of the statement.
 * @param shown at most one row per id, whose first columns are the key.
 */
export function resourceByKey<R extends [...Key, type: ResourceType, ...unknown[]]>(
  line: Line,
  pool: Asks,
  name: string,
  shown: Columns,
): ByKey<R> {
  const own = ofTenant<R>(line, name, byTenant(shown));
  const granted = line.gather<SightKey & { readonly id: string }, R | undefined>(async (database, keys) => {
    const values = [JSON.stringify(keys.map((key, n) => ({ n, ...key })))];
    const text = bySight(shown);
    const { rows } = await database.query<[number, ...R]>({
      name: `${name}-granted`,
      text,
      values,
      rowMode: 'array',
    });
    const found = new Map(rows.map(([n, ...row]) => [n, row]));
    return keys.map((_, n) => found.get(n));
  });
  return async (sees, type, id) => {
    const { within, ownerId } = sees;
    if (within === undefined) {
      const row = await own([id, ownerId]);
      return row?.[2] === type ? row : undefined;
    }
    if (type === 'Provenance') {
      const rows = { as: 'r', of: 'current', type } as const;
      const asked = seenStatement(sees, { name, values: [id, ownerId] }, 'r', rows, byTargets(shown));
      const found = await pool.query<R>({ rowMode: 'array', ...asked });
      return found.rows[0];
    }
    const key = sightKey(ownerId, within, type, 'r');
    return key && granted({ id, ...key });
  };
}

/** Opens a lookup of a tenant's resource, by id and tenant. */
function ofTenant<R extends [...Key, ...unknown[]]>(
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
  const byKey = resourceByKey<ResourceRow>(line, pool, 'read', COLUMNS);
  return async (caller, type, id, budget) => {
    if (!isUuid(id)) return undefined;
    const row = await byKey(caller.sees, type, id);
    if (row === undefined) return undefined;
    const [, , , version, lastUpdated, body] = row;
    return wholeResource(pool, caller.sees, { id, type, version, lastUpdated, body }, budget);
  };
}
