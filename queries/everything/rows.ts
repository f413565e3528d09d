/** The rows of `$everything`: a record's resources, its automatic Provenances, directory entries. Bodies pass as bytes. */
import pg from 'pg';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Micros } from '#src/shared/time.ts';
import { copyOut } from '../copy-out.ts';
import type { Queryable } from '../gather.ts';
import { provenanceTexts, type RecordedVersion } from '../provenance/resource.ts';
import { careCondition } from './care-dates.ts';

/** A resource of the answer. */
export interface EverythingRow {
  readonly type: ResourceType;
  readonly id: string;
  /** FHIR JSON in UTF-8. */
  readonly body: Buffer;
}

/** Which rows of a record, for which tenant. */
export interface RecordScope {
  readonly tenant: string;
  readonly record: string;
  readonly types?: ReadonlySet<ResourceType>;
  readonly since?: Micros;
  readonly care?: { readonly from: Micros; readonly to: Micros };
}

/** Before every id. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** The place of a row in the order of (type, id). */
export interface Place {
  readonly type: string;
  readonly id: string;
}

const text = (value: string): string => pg.escapeLiteral(value);
const uuid = (value: string): string => `${text(value)}::uuid`;
const list = (values: Iterable<string>, type: string): string =>
  `array[${[...values].map(text).join(', ')}]::${type}[]`;

/**
 * A record's resources: the Patient, then the others by type and id, which never change: a row that is there while
 * pages are read comes exactly once.
 * @param after the last row of the page before; undefined for the first page.
 */
export function recordRows(
  database: Queryable,
  scope: RecordScope,
  after: Place | undefined,
  limit: number,
): Promise<EverythingRow[]> {
  return recordRowsBy(rowsOut, database, scope, after, limit);
}

/** The same, taken over in some other way. @param out gives the rows of a query for type, id and body */
export async function recordRowsBy<Row>(
  out: (database: Queryable, select: string) => Promise<readonly Row[]>,
  database: Queryable,
  scope: RecordScope,
  after: Place | undefined,
  limit: number,
): Promise<Row[]> {
  const first =
    after === undefined && scope.types?.has('Patient') !== false
      ? await out(database, patientRow(scope))
      : [];
  const place = after ?? { type: '', id: NO_ID };
  return [...first, ...(await out(database, otherRows(scope, place, limit - first.length)))];
}

async function rowsOut(database: Queryable, select: string): Promise<EverythingRow[]> {
  return toRows(await copyOut(database, select));
}

/** Index: primary key of resources.resource (id). */
function patientRow(scope: RecordScope): string {
  return `
    select r.type, r.id::text, r.body from resources.resource r
    where r.id = ${uuid(scope.record)} and r.type = 'Patient' and ${inScope(scope)}`;
}

/**
 * Index: resources.resource_of_record (record, type, id), in its order. The types are always named: without them, and
 * without statistics, the planner would rather sort the rows, which takes ten times as long.
 */
function otherRows(scope: RecordScope, { type, id }: Place, limit: number): string {
  const { tenant, record, types, care } = scope;
  const wanted = (types === undefined ? TYPE_NAMES : [...types]).filter((each) => each !== 'Patient');
  const conditions = [inScope(scope), `r.type = any(${list(wanted, 'text')})`];
  if (care !== undefined) conditions.push(careCondition(tenant, care));
  return `
    select r.type, r.id::text, r.body from resources.resource r
    where r.record = ${uuid(record)} and ${conditions.join(' and ')}
      and (r.type, r.id) > (${text(type)}, ${uuid(id)})
    order by r.record, r.type, r.id limit ${limit}`;
}

/** The tenant's is only checked: no index of its own leads to the rows. */
function inScope({ tenant, since }: RecordScope): string {
  const changed = since === undefined ? '' : ` and r.last_updated >= ${since}`;
  return `(r.tenant = ${uuid(tenant)}) is true and not r.deleted${changed}`;
}

/** Live directory entries of some ids, by type and id. Index: primary key of resources.resource. */
export async function directoryRows(
  database: Queryable,
  tenant: string,
  ids: Iterable<string>,
): Promise<(EverythingRow & { readonly lastUpdated: Micros })[]> {
  const tuples = await copyOut(
    database,
    `select r.type, r.id::text, r.body, r.last_updated from resources.resource r
     where r.id = any(${list(ids, 'uuid')}) and r.tenant = ${uuid(tenant)} and r.record is null and not r.deleted`,
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

/** A record's automatic Provenances, oldest first. Index history.version_of_record (record, recorded_at, event_id). */
export async function provenanceRows(
  database: Queryable,
  { tenant, record, since, care }: RecordScope,
  after: { readonly recordedAt: Micros; readonly id: string } | undefined,
  limit: number,
): Promise<ProvenanceRow[]> {
  const values: unknown[] = [record, tenant, limit];
  const conditions: string[] = [];
  const bound = (value: unknown): string => `$${values.push(value)}`;
  if (since !== undefined) conditions.push(`and v.recorded_at >= ${bound(since)}::int8`);
  if (care !== undefined) {
    conditions.push(
      `and v.recorded_at >= ${bound(care.from)}::int8 and v.recorded_at < ${bound(care.to)}::int8`,
    );
  }
  if (after !== undefined) {
    conditions.push(
      `and (v.recorded_at, v.event_id) > (${bound(after.recordedAt)}::int8, ${bound(after.id)}::uuid)`,
    );
  }
  const { rows } = await database.query<RecordedVersion>(
    `select v.event_id, v.type, v.id, v.version, v.recorded_at, v.operation, v.metadata
     from history.version v
     where v.record = $1::uuid and v.tenant = $2::uuid ${conditions.join(' ')}
     order by v.recorded_at, v.event_id limit $3::int4`,
    values,
  );
  const texts = await provenanceTexts(database, tenant, rows);
  return rows.map((row, n) => ({
    type: 'Provenance',
    id: row.event_id,
    body: Buffer.from(texts[n] ?? 'null'),
    recordedAt: row.recorded_at,
  }));
}
