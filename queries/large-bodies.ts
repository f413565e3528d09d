/**
 * Large bodies of a page: a statement gives their sizes instead, so that no page holds more than its budget before that is
 * known. Those that fit are then read by themselves.
 */
import type { Sees } from '#src/shared/access/caller.ts';
import type { Asks } from './database/prepared.ts';

/** The size in bytes from which a body is large: a full page of bodies of this size has a few megabytes. */
const LARGE = 32_000;

/**
 * Returns SQL for a body, or for its size in digits if it is large. Bodies are JSON objects, so no body
 * consists of digits.
 * @param large the size in bytes from which a body is large.
 */
export function bodyOrSize(body: string, large = LARGE): string {
  return `case when octet_length(${body}) <= ${large} then ${body} else octet_length(${body})::text end`;
}

/** Returns the size of a large body in bytes; undefined for a body that was read. */
export function sizeOfLarge(body: string): number | undefined {
  const first = body.charCodeAt(0);
  return first >= 48 && first <= 57 ? Number(body) : undefined;
}

/** Returns the size in bytes of a row's body, which may be large, or null. */
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
 * Reads the large bodies of rows; rows whose body was purged meanwhile are left out.
 * @param rows the rows that fit the response's budget.
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
