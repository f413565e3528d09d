/**
 * Reads a resource's current version: https://hl7.org/fhir/R4/http.html#read. For a large body, a statement returns only the
 * size, so that no page takes more memory than its budget allows; large bodies that fit are then read separately.
 */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Line } from './database/gather.ts';
import type { Asks } from './database/prepared.ts';
import { type SightKey, seenByKey, seenStatement, sightKey } from './sight.ts';

/** The size in bytes from which a body is large: a full page of bodies of this size is a few megabytes. */
const LARGE = 32_000;

/**
 * Returns SQL for a body or, if the body is large, for its size in digits. Bodies are JSON objects, so no body consists of
 * digits.
 * @param large the size in bytes from which a body is large
 */
export function bodyOrSize(body: string, large = LARGE): string {
  return `case when octet_length(${body}) <= ${large} then ${body} else octet_length(${body})::text end`;
}

/** Returns the size of a large body in bytes; undefined for a body that was read. */
export function sizeOfLarge(body: string): number | undefined {
  const first = body.charCodeAt(0);
  return first >= 48 && first <= 57 ? Number(body) : undefined;
}

/** Returns the size of a row's body in bytes; the body may be large, or null. */
export function bodySize(body: string | Buffer | null): number {
  if (body === null) return 0;
  if (typeof body !== 'string') return sizeOfLarge(body.toString('latin1', 0, 10)) ?? body.length;
  return sizeOfLarge(body) ?? Buffer.byteLength(body);
}

/** A row whose body may be large. */
interface Row {
  readonly id: string;
  readonly version: number;
  readonly body: string | Buffer | null;
}

function isLarge({ body }: Row): boolean {
  if (body === null) return false;
  return sizeOfLarge(typeof body === 'string' ? body : body.toString('latin1', 0, 1)) !== undefined;
}

// Index: primary key of resources.resource (id).
const CURRENT = `
  select r.id, r.version, r.body from unnest($1::uuid[], $2::int[]) k(id, version)
  cross join lateral (
    select r.id, r.version, r.body from resources.resource r where r.id = k.id and (r.tenant = $3) is true offset 0) r
  where r.version = k.version`;

// Index: primary key of history.version (id, version).
const EARLIER = `
  select v.id, v.version, v.body from unnest($1::uuid[], $2::int[]) k(id, version)
  cross join lateral (
    select v.id, v.version, v.body from history.version v
    where v.id = k.id and v.version = k.version and (v.tenant = $3) is true offset 0) v`;

/**
 * Reads the rows' large bodies; rows whose body has been purged in the meantime are left out.
 * @param rows the rows that fit the response's budget
 */
export async function withLargeBodies<R extends Row>(
  database: Asks,
  { ownerId }: Pick<Sees, 'ownerId'>,
  rows: readonly R[],
): Promise<R[]> {
  const large = rows.filter(isLarge);
  if (large.length === 0) return [...rows];
  const bodies = new Map<string, string>();
  for (const [name, text] of [
    ['large-current', CURRENT],
    ['large-earlier', EARLIER],
  ] as const) {
    const missing = large.filter((row) => !bodies.has(readKey(row)));
    if (missing.length === 0) break;
    const values = [missing.map(({ id }) => id), missing.map(({ version }) => version), ownerId];
    const found = await database.query<Row & { readonly body: string | null }>({ name, text, values });
    for (const row of found.rows) if (row.body !== null) bodies.set(readKey(row), row.body);
  }
  return rows.flatMap((row): R[] => {
    if (!isLarge(row)) return [row];
    const body = bodies.get(readKey(row));
    return body === undefined ? [] : [{ ...row, body }];
  });
}

function readKey({ id, version }: Row): string {
  return `${id} ${version}`;
}

/** A resource's current version. */
export interface CurrentResource {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  /** The time at which the version was recorded. */
  readonly lastUpdated: Micros;
  /** The exact FHIR JSON text; null if the resource is deleted. */
  readonly body: string | null;
}

/**
 * Reads a resource for a caller; undefined if it doesn't exist or the caller isn't allowed to see it.
 * @param budget the budget of the response that will contain the resource: a body that doesn't fit isn't read
 * @throws Refusal in the same cases as `AnswerBudget.requireRoom`
 */
export type Read = (
  caller: Caller,
  type: ResourceType,
  id: string,
  budget?: AnswerBudget,
) => Promise<CurrentResource | undefined>;

/** The resource and its tenant. */
type Key = [id: string, tenant: string];

/** The columns of a resource, including its body. */
export type ResourceRow = [
  ...Key,
  type: ResourceType,
  version: number,
  lastUpdated: Micros,
  body: string | null,
];

/** The columns that a lookup reads from a resource `r`. */
interface Columns {
  /** The columns, beginning with the key: id and tenant. */
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

// Uses the same index, once per key. Each key is checked against what its own caller may see.
const bySight = ({ columns, joins = '' }: Columns): string => `
  select k.n, ${columns}
  from json_to_recordset($1::json) k(n int, id uuid, type text, tenant uuid, record uuid, home text, categories int8[])
  cross join lateral (select r.* from resources.resource r where r.id = k.id and ${seenByKey('r')} offset 0) r${joins}`;

// Uses the same index. Visibility depends on a Provenance's targets, or on two versions of a resource, so such lookups don't
// share a statement.
const byItself =
  ({ columns, joins = '' }: Columns) =>
  (seen: string): string =>
    `
  select ${columns}
  from resources.resource r${joins}
  where r.id = $1 and r.tenant = $2 and r.type = $3 ${seen}`;

/** Reads a row that a caller can see; undefined if there is none. */
type ByKey<R> = (sees: Sees, type: ResourceType, id: string) => Promise<R | undefined>;

/**
 * Creates a lookup, on a line, of resources that callers can see; concurrent lookups share a statement.
 * @param name the statement's name
 * @param shown selects at most one row per id, whose first columns are the key
 */
export function resourceByKey<R extends [...Key, type: ResourceType, ...unknown[]]>(
  line: Pick<Line, 'gather'>,
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
    const { within, ownerId, asOf } = sees;
    if (within === undefined) {
      const row = await own([id, ownerId]);
      return row?.[2] === type ? row : undefined;
    }
    if (type === 'Provenance' || asOf !== undefined) {
      const rows = { as: 'r', of: 'current', type } as const;
      const asked = seenStatement(sees, { name, values: [id, ownerId, type] }, 'r', rows, byItself(shown));
      const found = await pool.query<R>({ rowMode: 'array', ...asked });
      return found.rows[0];
    }
    const key = sightKey(ownerId, within, type, 'r');
    return key && granted({ id, ...key });
  };
}

/** Creates a lookup of a tenant's resource, by id and tenant. */
function ofTenant<R extends [...Key, ...unknown[]]>(
  line: Pick<Line, 'gather'>,
  name: string,
  text: string,
): (key: Key) => Promise<R | undefined> {
  return line.gather<Key, R | undefined>(async (database, keys) => {
    const tenants = new Set(keys.map(([, tenant]) => tenant));
    const values = [keys.map(([id]) => id), [...tenants]];
    // Rows are arrays, because the driver is slower with objects that have one member per column.
    const { rows } = await database.query<R>({ name, text, values, rowMode: 'array' });
    const found = new Map(rows.map((row) => [row[0], row]));
    return keys.map(([id, tenant]) => {
      const row = found.get(id);
      return row?.[1] === tenant ? row : undefined;
    });
  });
}

/**
 * Returns a resource, reading its body if the body is large.
 * @param budget as in `Read`
 * @throws Refusal unavailable (503) if the version has been replaced in the meantime and no read model contains it any more
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

/** Creates reads on a line; large bodies are read one by one on a pool, so that many of them are never in memory together. */
export function openRead(line: Pick<Line, 'gather'>, pool: Asks): Read {
  const byKey = resourceByKey<ResourceRow>(line, pool, 'read', COLUMNS);
  return async (caller, type, id, budget) => {
    if (!isUuid(id)) return undefined;
    const row = await byKey(caller.sees, type, id);
    if (row === undefined) return undefined;
    const [, , , version, lastUpdated, body] = row;
    return wholeResource(pool, caller.sees, { id, type, version, lastUpdated, body }, budget);
  };
}
