/**
 * Reads when a record changed, how many versions and resources it had at a given time, and which of its resources changed
 * between two times.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { EventMetadata } from '#src/events/metadata.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { decodeCursorFor, encodeCursorFor } from '../cursor.ts';

/** Versions that were stored one after the other. */
export interface Stretch {
  readonly from: Micros;
  readonly to: Micros;
  readonly versions: number;
}

/** A record's last version at a given time. */
export interface RecordPosition {
  /** The number of versions up to and including this one. */
  readonly versions: number;
  readonly at: Micros;
  /** The event of the last version; if several versions have the same time, the event of one of them. */
  readonly event: string;
}

/** The number of a record's resources of each type. */
export type TypeCounts = ReadonlyMap<string, number>;

/** A resource that changed between two times. */
export interface ChangedResource {
  readonly type: string;
  readonly id: string;
  /** The version at the first time; null if the resource didn't exist or was deleted at that time. */
  readonly before: StoredBody | null;
  /** The version at the second time. */
  readonly after: StoredBody;
  /** For a resource that was both added and deleted in between, its last version with content; null for other resources. */
  readonly between: StoredBody | null;
  /** The number of versions in between, including the last version. */
  readonly times: number;
  readonly at: Micros;
  /** The last version's event. */
  readonly event: string;
  readonly metadata: EventMetadata;
}

/** A version with its body; if the body is null, the version is a deletion, or is too large to be read here. */
export interface StoredBody {
  readonly version: number;
  readonly body: string | null;
  readonly isDeleted: boolean;
}

/** The changes to read from a record. */
export interface AskedChanges {
  readonly record: string;
  /** Versions after this time. */
  readonly from: Micros;
  /** Versions up to this time. If the list ends now, its later pages use the first page's time. */
  readonly to: Micros;
  readonly endsNow: boolean;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** A page of changes, newest first. */
export interface ChangesPage {
  readonly rows: readonly ChangedResource[];
  readonly total: number;
  readonly next: string | undefined;
  /** The second time of the list. */
  readonly to: Micros;
}

/** The queries. They don't check permissions. */
export interface RecordVersions {
  /** Returns all of a record's versions, grouped into at most the given number of stretches, oldest first. */
  stretches(record: string, most: number): Promise<readonly Stretch[]>;
  /** Returns the position at a given time; undefined before the first version. */
  position(record: string, at: Micros): Promise<RecordPosition | undefined>;
  /** @throws Refusal invalid (422) for a cursor that isn't from this list */
  changes(asked: AskedChanges): Promise<ChangesPage>;
  /**
   * Returns the versions of a resource in a record, newest first, each with the previous version.
   * @throws Refusal invalid (422) for a cursor that isn't from this list
   */
  versions(asked: AskedVersions): Promise<Omit<ChangesPage, 'to'>>;
}

/** The versions to read from a resource. */
export interface AskedVersions {
  readonly record: string;
  readonly type: string;
  readonly id: string;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

// Index: history.version_of_record (record, recorded_at, event_id).
const STRETCHES = `
select min(b.at)::float8 as "from", max(b.at)::float8 as "to", sum(b.versions)::int as versions
from (
  select v.at, v.versions, ntile($2::int) over (order by v.at) as part
  from (select recorded_at as at, count(*) as versions from history.version where record = $1::uuid group by recorded_at) v) b
group by b.part order by 1`;

// Index: history.version_of_record (record, recorded_at, event_id).
const POSITION = `
select count(*)::int as versions, max(v.recorded_at)::float8 as at,
  (select w.event_id from history.version w where w.record = $1::uuid and w.recorded_at <= $2
    order by w.recorded_at desc, w.event_id desc limit 1) as event
from history.version v where v.record = $1::uuid and v.recorded_at <= $2`;

/** The maximum size in bytes of a version that is read in order to describe it in words. */
export const MOST_BYTES = 200_000;

const body = (v: string): string => `case when octet_length(${v}.body) < ${MOST_BYTES} then ${v}.body end`;

const SIDES = `a.metadata, a.event_id as event,
  a.version as after, ${body('a')} as "afterBody", a.operation = 'DELETE' as "isDeleted",
  b.version as before, ${body('b')} as "beforeBody", b.operation = 'DELETE' as "wasDeleted"`;

/**
 * Returns SQL that joins a version, which may be missing, by its id and number. With `offset`, a plan for any value also reads
 * only that version, instead of all versions of the resource for each row.
 */
const joinVersion = (as: string, id: string, version: string): string => `left join lateral (
  select v.* from history.version v where v.id = ${id} and v.version = ${version} offset 0) ${as} on`;

// Index: the primary key of history.version (id, version), backwards. The record's own index may not be used: a plan for any
// value would expect as few rows from it.
const VERSIONS = `
select a.id, a.type, 1 as times, a.recorded_at::float8 as at, ${SIDES},
  (select count(*) from history.version w where w.id = $2::uuid and (w.record = $1::uuid) is true and w.type = $3)::int
    as total
from (
  select a.* from history.version a
  where a.id = $2::uuid and (a.record = $1::uuid) is true and a.type = $3 and a.version < $5 order by a.version desc limit $4) a
${joinVersion('b', 'a.id', 'a.version - 1')} true
order by a.version desc`;

// Indexes: history.version_of_record (record, recorded_at, event_id), and the primary key of history.version (id, version).
const changesSql = (isAfter: boolean): string => `
with v as materialized (
  select v.id, v.type, min(v.version) as first, max(v.version) as last, count(*)::int as times, max(v.recorded_at) as at
  from history.version v
  where v.record = $1::uuid and v.recorded_at > $2 and v.recorded_at <= $3 and v.type <> 'Provenance' group by v.id, v.type)
select p.id, p.type, p.times, p.at::float8 as at, (select count(*) from v)::int as total, ${SIDES},
  c.version as between, ${body('c')} as "betweenBody"
from (select * from v ${isAfter ? 'where (v.at, v.id) < ($5, $6::uuid)' : ''} order by v.at desc, v.id desc limit $4) p
cross join lateral (select v.* from history.version v where v.id = p.id and v.version = p.last offset 0) a
${joinVersion('b', 'p.id', 'p.first - 1')} true
${joinVersion('c', 'p.id', 'p.last - 1')} c.operation <> 'DELETE'
  and a.operation = 'DELETE' and (b.version is null or b.operation = 'DELETE')
order by p.at desc, p.id desc`;

interface ChangeRow {
  readonly id: string;
  readonly type: string;
  readonly times: number;
  readonly at: Micros;
  readonly event: string;
  readonly metadata: string;
  readonly total: number;
  readonly after: number;
  readonly afterBody: string | null;
  readonly isDeleted: boolean;
  readonly before: number | null;
  readonly beforeBody: string | null;
  readonly wasDeleted: boolean | null;
  /** Absent in the list of a resource's versions. */
  readonly between?: number | null;
  readonly betweenBody?: string | null;
}

const versionKey = z.tuple([z.int()]);
/** Greater than any version number. */
const MOST_VERSIONS = 2_147_483_647;
const key = z.tuple([z.number(), z.number(), z.string().refine(isUuid)]);

/** Creates the queries. */
export function openRecordVersions(pool: Pool): RecordVersions {
  return {
    async stretches(record, most) {
      const values = [record, most];
      const { rows } = await pool.query<Stretch>({ name: 'record-stretches', text: STRETCHES, values });
      return rows;
    },
    async position(record, at) {
      const values = [record, at];
      const { rows } = await pool.query<RecordPosition>({ name: 'record-position', text: POSITION, values });
      const [row] = rows;
      return row === undefined || row.versions === 0 ? undefined : row;
    },
    async changes({ record, from, to: asked, endsNow, limit, cursor }) {
      const list = `changes ${record} ${from} ${endsNow ? '' : asked}`;
      const [to, ...after] = cursor === undefined ? [asked] : decodeCursorFor(list, cursor, key);
      const isAfter = after.length > 0;
      const { rows } = await pool.query<ChangeRow>({
        name: isAfter ? 'record-changes-after' : 'record-changes',
        text: changesSql(isAfter),
        values: [record, from, to, limit + 1, ...after],
      });
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const isLast = rows.length <= limit || last === undefined;
      return {
        rows: shown.map(makeChange),
        total: rows[0]?.total ?? 0,
        next: isLast ? undefined : encodeCursorFor(list, [to, last.at, last.id]),
        to,
      };
    },
    async versions({ record, type, id, limit, cursor }) {
      const list = `versions ${record} ${type} ${id}`;
      const [below] = cursor === undefined ? [MOST_VERSIONS] : decodeCursorFor(list, cursor, versionKey);
      const { rows } = isUuid(id)
        ? await pool.query<ChangeRow>({
            name: 'record-versions',
            text: VERSIONS,
            values: [record, id, type, limit + 1, below],
          })
        : { rows: [] };
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const isLast = rows.length <= limit || last === undefined;
      return {
        rows: shown.map(makeChange),
        total: rows[0]?.total ?? 0,
        next: isLast ? undefined : encodeCursorFor(list, [last.after]),
      };
    },
  };
}

function makeChange(row: ChangeRow): ChangedResource {
  const { id, type, times, at, event, metadata, before, after, between = null } = row;
  return {
    id,
    type,
    times,
    at,
    event,
    metadata: JSON.parse(metadata) as EventMetadata,
    before:
      before === null || row.wasDeleted === true
        ? null
        : { version: before, body: row.beforeBody, isDeleted: false },
    after: { version: after, body: row.afterBody, isDeleted: row.isDeleted },
    between: between === null ? null : { version: between, body: row.betweenBody ?? null, isDeleted: false },
  };
}

// Index: resources.resource_of_record (record, type, id).
const COUNTS = `
select r.type, count(*)::int as count from resources.resource r
where r.record = $1::uuid and not r.deleted group by r.type order by r.type`;

/** Creates the query for the number of resources that a record has. The query doesn't check permissions. */
export function openTypeCounts(pool: Pool): (record: string) => Promise<TypeCounts> {
  return async (record) => {
    const { rows } = await pool.query<{ type: string; count: number }>({
      name: 'record-counts',
      text: COUNTS,
      values: [record],
    });
    return new Map(rows.map(({ type, count }) => [type, count]));
  };
}

// Index: the primary key of resources.resource.
const CURRENT =
  'select r.id, r.version from resources.resource r where r.id = any($1::uuid[]) and r.record = $2::uuid';

/** Creates the query for the current versions of some of a record's resources. The query doesn't check permissions. */
export function openCurrentVersions(
  pool: Pool,
): (record: string, ids: readonly string[]) => Promise<ReadonlyMap<string, number>> {
  return async (record, ids) => {
    const { rows } = await pool.query<{ id: string; version: number }>({
      name: 'record-current-versions',
      text: CURRENT,
      values: [ids, record],
    });
    return new Map(rows.map(({ id, version }) => [id, version]));
  };
}
