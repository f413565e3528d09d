/**
 * The rows of `$everything`: a record's resources, its automatic Provenances, and directory entries. Bodies are passed through
 * as bytes.
 */
import pg from 'pg';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { copyOut } from '../database/copy-out.ts';
import type { Queryable } from '../database/gather.ts';
import { provenanceTexts, type RecordedVersion } from '../provenance/resource.ts';
import { bodyOrSize, bodySize } from '../read.ts';
import { andSeen, andSeenProvenance, type Bind, bindTo, type Seeing } from '../sight.ts';
import { careCondition } from './care-dates.ts';

/** A resource in the response. */
export interface EverythingRow {
  readonly type: ResourceType;
  readonly id: string;
  /** FHIR JSON in UTF-8; for a large body that hasn't been read yet, its size in digits (`large-bodies.ts`). */
  readonly body: Buffer;
}

/**
 * The rows of a record that a caller can see: under a grant, rows for whose type and categories the grant has the letters in
 * `NEEDS`.
 */
export interface RecordScope {
  readonly sees: Seeing;
  /** `Calls.projectId`: only the project to which a key belongs sees the key's name. */
  readonly readBy: string;
  readonly record: string;
  readonly types?: ReadonlySet<ResourceType>;
  readonly since?: Micros;
  readonly care?: { readonly from: Micros; readonly to: Micros };
}

/** The size in bytes from which PostgreSQL stores a body outside its row, so that the row can be read without the body. */
const BESIDE = 8_000;

/** Sorts before every id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A row's place in the order by (type, id). */
export interface Place {
  readonly type: string;
  readonly id: string;
}

const text = (value: string): string => pg.escapeLiteral(value);
const uuid = (value: string): string => `${text(value)}::uuid`;
const list = (values: Iterable<string>, type: string): string =>
  `array[${[...values].map(text).join(', ')}]::${type}[]`;

/** The letters that reading a whole record requires (docs/spec/decisions.md, section 9, "Letters"). */
const NEEDS = 'rs';

/** Writes values into the statement, because COPY takes no parameters. */
const literal: Bind = (value, type) =>
  Array.isArray(value) ? list(value.map(String), type.replace('[]', '')) : `${text(String(value))}::${type}`;

/** Returns the condition that rows `r` of resources.resource are visible to the caller. */
const seen = (sees: Seeing): string => andSeen(sees, NEEDS, { as: 'r', of: 'current' }, literal);

/** The rows to read from a record, in the record's order: the Patient, then all other resources by type and id. */
export interface RowsAsked {
  /** The last row of the previous page; undefined for the first page. */
  readonly after: Place | undefined;
  readonly limit: number;
  /** The number of rows to skip. */
  readonly offset?: number;
}

/**
 * Reads a record's resources; for a large body, only its size is returned. Type and id never change, so a row that exists
 * while pages are being read appears exactly once.
 */
export function recordRows(
  database: Queryable,
  scope: RecordScope,
  asked: RowsAsked,
): Promise<EverythingRow[]> {
  return recordRowsBy(rowsOut, database, scope, asked, bodyOrSize('r.body', BESIDE));
}

/**
 * Reads the rows with a different reader, including all bodies or whatever the reader returns for them.
 * @param out reads a query's rows for type, id and body
 */
export async function recordRowsBy<Row>(
  out: (database: Queryable, select: string) => Promise<readonly Row[]>,
  database: Queryable,
  scope: RecordScope,
  { after, limit, offset = 0 }: RowsAsked,
  body = 'r.body',
): Promise<Row[]> {
  const begins = after === undefined && scope.types?.has('Patient') !== false;
  const first = begins ? await out(database, patientRow(scope, body)) : [];
  const place = after ?? { type: '', id: NO_ID };
  const shown = offset === 0 ? first : [];
  const others = otherRows(scope, place, limit - shown.length, body, Math.max(0, offset - first.length));
  return [...shown, ...(await out(database, others))];
}

/**
 * Returns the number of rows that a record has in a scope, and the number of bytes in the rows that `offset` and `limit`
 * select.
 */
export async function measureRecord(
  database: Queryable,
  scope: RecordScope,
  { limit, offset = 0 }: Omit<RowsAsked, 'after'>,
): Promise<{ readonly rows: number; readonly bytes: number }> {
  const size = (select: string): string => `select octet_length(x.body) as size from (${select}) x`;
  const all = otherRows(scope, { type: '', id: NO_ID }, undefined, 'r.body');
  const patient =
    scope.types?.has('Patient') === false ? '' : `${size(patientRow(scope, 'r.body'))} union all`;
  const { rows } = await database.query<{ rows: number; bytes: number }>(`
    with s as materialized (${patient} (${size(all)})),
      n as (select s.size, row_number() over () as n from s)
    select count(*)::int8 as rows,
      coalesce(sum(n.size) filter (where n.n > ${offset} and n.n <= ${offset + limit}), 0)::int8 as bytes from n`);
  return { rows: Number(rows[0]?.rows ?? 0), bytes: Number(rows[0]?.bytes ?? 0) };
}

/**
 * Reads the rows' large bodies, which must all fit the budget. Resources that have been deleted in the meantime are left out.
 */
export async function withLargeRows<R extends EverythingRow>(
  database: Queryable,
  sees: Seeing,
  rows: readonly R[],
): Promise<R[]> {
  const large = rows.filter(isLarge).map(({ id }) => id);
  if (large.length === 0) return [...rows];
  const bodies = new Map((await rowsOut(database, rowsById(sees, large))).map(({ id, body }) => [id, body]));
  return rows.flatMap((row): R[] => {
    if (!isLarge(row)) return [row];
    const body = bodies.get(row.id);
    return body === undefined ? [] : [{ ...row, body }];
  });
}

/** Returns true if a row's body was left out. */
export function isLarge({ body }: EverythingRow): boolean {
  return body[0] !== BRACE;
}

const BRACE = 0x7b;

/** Returns SQL for the type, id and whole body of live rows. Index: primary key of resources.resource. */
export function rowsById(sees: Seeing, ids: Iterable<string>): string {
  return `select r.type, r.id::text, r.body from resources.resource r
    where r.id = any(${list(ids, 'uuid')}) and (r.tenant = ${uuid(sees.ownerId)}) is true and not r.deleted ${seen(sees)}`;
}

/** Returns the rows' sizes in bytes, including large bodies. */
export function measureRows(rows: readonly EverythingRow[]): number[] {
  return rows.map((row) => (isLarge(row) ? bodySize(row.body) : row.body.length));
}

async function rowsOut(database: Queryable, select: string): Promise<EverythingRow[]> {
  return toRows(await copyOut(database, select));
}

/** Index: primary key of resources.resource (id). */
function patientRow(scope: RecordScope, body: string): string {
  return `
    select r.type, r.id::text, ${body} as body from resources.resource r
    where r.id = ${uuid(scope.record)} and r.type = 'Patient' and ${inScope(scope)}`;
}

/**
 * Index: resources.resource_of_record (record, type, id), in its order. The types are always named:
 * otherwise, without statistics, the planner would sort the rows, which takes ten times as long.
 */
function otherRows(
  scope: RecordScope,
  { type, id }: Place,
  limit: number | undefined,
  body: string,
  offset = 0,
): string {
  const { sees, record, types, care } = scope;
  const wanted = (types === undefined ? TYPE_NAMES : [...types]).filter((each) => each !== 'Patient');
  const conditions = [inScope(scope), `r.type = any(${list(wanted, 'text')})`];
  if (care !== undefined) conditions.push(careCondition(sees.ownerId, care));
  return `
    select r.type, r.id::text, ${body} as body from resources.resource r
    where r.record = ${uuid(record)} and ${conditions.join(' and ')}
      and (r.type, r.id) > (${text(type)}, ${uuid(id)})
    order by r.record, r.type, r.id${limit === undefined ? '' : ` limit ${limit}`}${offset === 0 ? '' : ` offset ${offset}`}`;
}

/** Returns a condition that checks the tenant without using an index on it. */
function inScope({ sees, since }: RecordScope): string {
  const changed = since === undefined ? '' : ` and r.last_updated >= ${since}`;
  return `(r.tenant = ${uuid(sees.ownerId)}) is true and not r.deleted${changed} ${seen(sees)}`;
}

/**
 * Reads live directory entries by id; for a large body, only its size is returned. Index: primary key of resources.resource.
 */
export async function directoryRows(
  database: Queryable,
  sees: Seeing,
  ids: Iterable<string>,
): Promise<(EverythingRow & { readonly lastUpdated: Micros })[]> {
  const tuples = await copyOut(
    database,
    `select r.type, r.id::text, ${bodyOrSize('r.body', BESIDE)}, r.last_updated from resources.resource r
     where r.id = any(${list(ids, 'uuid')}) and r.tenant = ${uuid(sees.ownerId)} and r.record is null and not r.deleted ${seen(sees)}`,
  );
  const lastUpdated = tuples.map(([, , , at]) => Number(at?.readBigInt64BE()));
  return toRows(tuples).map((row, n) => ({ ...row, lastUpdated: lastUpdated[n] ?? 0 }));
}

function toRows(tuples: Awaited<ReturnType<typeof copyOut>>): EverythingRow[] {
  return tuples.map(([type, id, body]) => ({
    type: String(type) as ResourceType,
    id: String(id),
    body: body ?? Buffer.from('null'),
  }));
}

/** An automatic Provenance of a record, and its place in the order of time. */
export interface ProvenanceRow extends EverythingRow {
  readonly recordedAt: Micros;
}

/** Returns the conditions on when the Provenances in a scope were recorded. */
function recordedIn({ since, care }: RecordScope): string[] {
  return [
    ...(since === undefined ? [] : [`and v.recorded_at >= ${since}`]),
    ...(care === undefined ? [] : [`and v.recorded_at >= ${care.from} and v.recorded_at < ${care.to}`]),
  ];
}

/** Returns the number of automatic Provenances that a record has in a scope. Index: as in `provenanceRows`. */
export async function countProvenances(database: Queryable, scope: RecordScope): Promise<number> {
  const { sees, record } = scope;
  const values: unknown[] = [record, sees.ownerId];
  const { rows } = await database.query<{ count: number }>(
    `select count(*)::int8 as count from history.version v
     where v.record = $1::uuid and v.tenant = $2::uuid ${recordedIn(scope).join(' ')} ${andSeenProvenance(sees, NEEDS, 'v', bindTo(values))}`,
    values,
  );
  return Number(rows[0]?.count ?? 0);
}

/**
 * Reads a record's automatic Provenances, oldest first. Index history.version_of_record (record, recorded_at,
 * event_id).
 */
export async function provenanceRows(
  database: Queryable,
  scope: RecordScope,
  after: { readonly recordedAt: Micros; readonly id: string } | undefined,
  limit: number,
  offset = 0,
): Promise<ProvenanceRow[]> {
  const { sees } = scope;
  const values: unknown[] = [scope.record, sees.ownerId, limit];
  const bound = (value: unknown): string => `$${values.push(value)}`;
  const conditions = [...recordedIn(scope), andSeenProvenance(sees, NEEDS, 'v', bindTo(values))];
  if (after !== undefined) {
    conditions.push(
      `and (v.recorded_at, v.event_id) > (${bound(after.recordedAt)}::int8, ${bound(after.id)}::uuid)`,
    );
  }
  const { rows } = await database.query<RecordedVersion>(
    `select v.event_id, v.type, v.id, v.version, v.recorded_at, v.operation, v.metadata
     from history.version v
     where v.record = $1::uuid and v.tenant = $2::uuid ${conditions.join(' ')}
     order by v.recorded_at, v.event_id limit $3::int4 offset ${bound(offset)}::int4`,
    values,
  );
  const texts = await provenanceTexts(database, scope.readBy, rows);
  return rows.map((row, n) => ({
    type: 'Provenance',
    id: row.event_id,
    body: Buffer.from(texts[n] ?? 'null'),
    recordedAt: row.recorded_at,
  }));
}
