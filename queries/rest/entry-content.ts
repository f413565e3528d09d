/** Reads the content of an entry's versions, and the resources to which they refer. */
import type { Pool } from 'pg';
import { isUuid } from '#src/shared/ids.ts';

export interface StoredVersion {
  readonly version: number;
  /** The size of the version's JSON in bytes; null for a deletion. */
  readonly size: number | null;
  /** Exact FHIR JSON; null for a deletion, and for versions that exceed the limit for one read. */
  readonly body: string | null;
  readonly byAi: boolean;
}

export interface EntryContent {
  readonly newest: number;
  /** True if the newest version is a deletion. */
  readonly isDeleted: boolean;
  /** The requested version; by default the newest version that isn't a deletion. */
  readonly shown: StoredVersion;
  /** The last version before the shown one that wasn't written by an AI. */
  readonly human: StoredVersion | undefined;
  /** The other requested versions, by number. */
  readonly versions: ReadonlyMap<number, StoredVersion>;
}

/** The versions to read. */
export interface AskedVersions {
  /** Default: the newest version that isn't a deletion. */
  readonly shown: number | undefined;
  readonly versions: readonly number[];
}

/** The queries for an entry's pages. They don't check permissions. */
export interface EntryContents {
  /** Reads an entry's versions; undefined if the record has no such version. */
  find(record: string, type: string, id: string, asked: AskedVersions): Promise<EntryContent | undefined>;
  /** Reads a whole version, as exact FHIR JSON. */
  whole(
    record: string,
    type: string,
    id: string,
    version: number | undefined,
  ): Promise<{ readonly version: number; readonly body: string } | undefined>;
  /** Reads current resources from the record and the directory, by `Type/id`. */
  referred(record: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/**
 * The maximum number of bytes to read at once. The shown version has priority, then the last version not written by an AI,
 * then the newest versions.
 */
const MOST_BYTES = 3_000_000;

const AI = `metadata::json #>> '{author,type}'`;

// Index: the primary key of history.version (id, version).
const FOUND = `
select f.newest, f.deleted as "isDeleted", v.version as shown, case when ${AI} = 'ai' then (
  select e.version from history.version e
  where e.id = v.id and e.version < v.version and e.body is not null and e.${AI} is distinct from 'ai'
  order by e.version desc limit 1) end as human
from (
  select max(version) as newest, (max(version) filter (where body is null)) is not distinct from max(version) as deleted, max(version) filter (where body is not null and version = coalesce($4::int, version)) as shown
  from history.version where id = $2::uuid and record = $1::uuid and type = $3) f
join history.version v on v.id = $2::uuid and v.version = f.shown`;

// Index: the primary key of history.version (id, version).
const BODIES = `
select version, size, "byAi", case when sum <= ${MOST_BYTES} then body end as body
from (
  select version, body, ${AI} is not distinct from 'ai' as "byAi", octet_length(body) as size, sum(octet_length(body)) over (
    order by version = $3::int desc, version = $4::int desc nulls last, version desc) as sum
  from history.version
  where id = $2::uuid and record = $1::uuid and version = any($5::int[])) v`;

// Index: the primary key of history.version (id, version), backwards.
const WHOLE = `
select version, body from history.version
where id = $2::uuid and record = $1::uuid and type = $3 and body is not null and version = coalesce($4::int, version)
order by version desc limit 1`;

// Index: the primary key of resources.resource.
const REFERRED = `
select r.type || '/' || r.id as name, r.body from resources.resource r
where r.id = any($2::uuid[]) and not r.deleted and octet_length(r.body) < 200000 and (r.record = $1::uuid or r.record is null
  and r.tenant = (select p.tenant from resources.resource p where p.id = $1::uuid))`;

interface Found {
  readonly newest: number;
  readonly isDeleted: boolean;
  readonly shown: number;
  readonly human: number | null;
}

/** Creates the queries. */
export function openEntryContents(pool: Pool): EntryContents {
  return {
    async find(record, type, id, { shown, versions }) {
      if (!isUuid(id)) return undefined;
      const {
        rows: [found],
      } = await pool.query<Found>({
        name: 'entry-found',
        text: FOUND,
        values: [record, id, type, shown ?? null],
      });
      if (found === undefined) return undefined;
      const all = [...new Set([...versions, found.shown, found.human ?? found.shown])];
      const { rows } = await pool.query<StoredVersion>({
        name: 'entry-bodies',
        text: BODIES,
        values: [record, id, found.shown, found.human, all],
      });
      const read = new Map(rows.map((row) => [row.version, row]));
      const own = read.get(found.shown);
      if (own === undefined) return undefined;
      return {
        newest: found.newest,
        isDeleted: found.isDeleted,
        shown: own,
        human: found.human === null ? undefined : read.get(found.human),
        versions: read,
      };
    },
    async whole(record, type, id, version) {
      if (!isUuid(id)) return undefined;
      const values = [record, id, type, version ?? null];
      const { rows } = await pool.query<{ version: number; body: string }>({
        ...{ name: 'entry-whole', text: WHOLE, values },
      });
      return rows[0];
    },
    async referred(record, ids) {
      if (ids.length === 0) return new Map();
      const { rows } = await pool.query<{ name: string; body: string }>({
        name: 'entry-referred',
        text: REFERRED,
        values: [record, ids],
      });
      return new Map(rows.map(({ name, body }) => [name, body]));
    },
  };
}
