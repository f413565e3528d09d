/**
 * Searches within one record as of a point in time. The values by which resources are found are stored only for current
 * versions. A transaction therefore gets temporary tables with the rows of the record's resources, and of the directory
 * entries to which they refer: rows for versions that are still current are copied, and rows for other versions are built from
 * their bodies.
 */
import pg, { type Pool, type PoolClient } from 'pg';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { PastVersion } from '#src/fhir/unwritten.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { ANSWER_LIMITS, tooCostly } from '#src/shared/load/answer-budget.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { openLoaded, replaceTables } from './database/as-of.ts';
import { isCanceled } from './database/gather.ts';
import { type Everything, openEverything } from './everything/everything.ts';
import { type Include, openInclude } from './include/include.ts';
import { openSearchProvenance, type SearchProvenance } from './provenance/search.ts';
import { openSearch, type Search } from './search/search.ts';

/** The queries that need the values by which resources are found. */
export interface SearchQueries {
  readonly search: Search;
  readonly include: Include;
  readonly searchProvenance: SearchProvenance;
  readonly everything: Everything;
}

/** The record to search, and the types of resources to look at. */
export interface SearchedRecord {
  readonly record: string;
  /** Undefined for all types, including the directory entries to which they refer. */
  readonly types: readonly ResourceType[] | undefined;
}

/**
 * Runs searches within a record as of the caller's requested time.
 * @throws Refusal 413 `too-costly` for a record that is too large
 */
export type SearchRecord = <T>(
  caller: Caller,
  of: SearchedRecord,
  work: (questions: SearchQueries) => Promise<T>,
) => Promise<T>;

/** Adds the rows of the read models `search` and `history.client_provenance` to the tables in `pg_temp`. */
export type LoadVersions = (tx: pg.ClientBase, versions: readonly PastVersion[]) => Promise<void>;

/** The maximum number of references to follow from the record to a directory entry. */
const ROUNDS = 10;

/**
 * A search's tables in `pg_temp`. They have no constraints, because these would add rows to the catalogue. Indexes are created
 * after the rows are loaded.
 */
const TABLES = `
create temp table entry on commit drop as table search.entry with no data;
create temp table string on commit drop as table search.string with no data;
create temp table period on commit drop as table search.period with no data;
create temp table quantity on commit drop as table search.quantity with no data;
create temp table version on commit drop as table history.version with no data;
create temp table client_provenance on commit drop as table history.client_provenance with no data;
create temp table kept (id uuid) on commit drop`;

const INDEXES = `
create unique index on pg_temp.resource (id);
create unique index on pg_temp.entry (id);
create index on pg_temp.string (id, key);
create index on pg_temp.period (id, key);
create index on pg_temp.quantity (id, key)`;

/** Clients' own Provenances: current ones are copied, and all others get the numbers of their versions. */
const OWN_PROVENANCES = `
update pg_temp.client_provenance p set version = r.version from pg_temp.resource r where r.id = p.id;
insert into pg_temp.client_provenance select p.* from pg_temp.resource r
cross join lateral (
  select p.* from history.client_provenance p where p.id = r.id and p.version = r.version offset 0) p
where r.type = 'Provenance' and not r.deleted
  and not exists (select from pg_temp.client_provenance k where k.id = r.id)`;

const VALUES = ['string', 'period', 'quantity'] as const;

/** The maximum number of resources to look at, and of bytes in the bodies from which values are built. */
type Limits = Pick<typeof ANSWER_LIMITS, 'resources' | 'bytes'>;

/**
 * Creates searches within a record as of a point in time.
 * @param load loads versions with the projections, which queries don't import
 */
export function openSearchRecord(
  pool: Pool,
  load: LoadVersions,
  terminology: Terminology,
  limits: Limits = ANSWER_LIMITS,
): SearchRecord {
  return async ({ sees }, of, work) => {
    const { asOf } = sees;
    if (asOf === undefined) throw new TypeError('a search as of a moment needs the moment');
    const client = await pool.connect();
    try {
      // All tables are as of the same time; in the meantime, the read model `search` may continue.
      await client.query('begin isolation level repeatable read');
      await new Loading(client, sees, asOf, of, load, limits).run();
      const then = openLoaded(client, asOf);
      return await work({
        search: openSearch(then, terminology),
        include: openInclude(then),
        searchProvenance: openSearchProvenance(then, terminology),
        everything: openEverything(then),
      });
    } catch (error) {
      throw isCanceled(error) ? tooLarge() : error;
    } finally {
      await client.query('rollback').then(
        () => client.release(),
        () => client.release(true),
      );
    }
  };
}

function tooLarge(): Error {
  return tooCostly('would need more of the record as of a moment than the limit');
}

/** A row of a changed version. */
interface Changed {
  readonly id: string;
  readonly type: ResourceType;
  readonly last_updated: Micros;
  readonly body: string;
}

/** Fills the temporary tables. */
class Loading {
  #count = 0;
  #bytes = 0;

  constructor(
    private readonly client: PoolClient,
    private readonly sees: Sees,
    private readonly asOf: Micros,
    private readonly of: SearchedRecord,
    private readonly load: LoadVersions,
    private readonly limits: Limits,
  ) {}

  async run(): Promise<void> {
    const { client, of } = this;
    const record = isUuid(of.record) ? of.record : NO_ID;
    const ofTypes =
      of.types === undefined
        ? ''
        : `and r.type in (${of.types.map((type) => pg.escapeLiteral(type)).join()})`;
    const rows = (where: string, round: number): string =>
      replaceTables(
        `select r.*, ${round} as round from resources.resource r where ${where} and r.tenant = ${uuid(this.sees.ownerId)} limit ${this.limits.resources + 1}`,
        `${this.asOf}::int8`,
      );
    await client.query(
      `create temp table resource on commit drop as ${rows(`r.record = ${uuid(record)} ${ofTypes}`, 0)};${TABLES}`,
    );
    await this.#addValues(0);
    for (let round = 1; of.types === undefined && round <= ROUNDS; round += 1) {
      const named = `select distinct t.id from pg_temp.entry e cross join lateral unnest(e.targets) t(id)
        where not exists (select from pg_temp.resource k where k.id = t.id)`;
      const { rowCount } = await client.query(
        `insert into pg_temp.resource ${rows(`r.id = any(array(${named})) and r.record is null`, round)}`,
      );
      if ((rowCount ?? 0) === 0) break;
      await this.#addValues(round);
    }
    await client.query(
      VALUES.map(
        (table) => `insert into pg_temp.${table} select v.* from pg_temp.kept k
          cross join lateral (select s.* from search.${table} s where s.id = k.id offset 0) v`,
      ).join(';'),
    );
    await client.query(`${OWN_PROVENANCES};${INDEXES}`);
  }

  /**
   * Adds the entries of a round's resources: copies the entries of current versions, and builds the others including their
   * values.
   */
  async #addValues(round: number): Promise<void> {
    const { client } = this;
    const { rows: counted } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_temp.resource where round = ${round}`,
    );
    this.#count += counted[0]?.count ?? 0;
    if (this.#count > this.limits.resources) throw tooLarge();
    await client.query(`with own as materialized (
        select e.* from pg_temp.resource r
        cross join lateral (select e.* from search.entry e where e.id = r.id and e.version = r.version offset 0) e
        where r.round = ${round} and not r.deleted
      ), added as (
        insert into pg_temp.entry select * from own
        union all select c.* from own
        cross join lateral (select c.* from search.entry c where c.container = own.id and c.version = own.version offset 0) c
        returning id)
      insert into pg_temp.kept select id from added`);
    const unmade = `from pg_temp.resource r where r.round = ${round} and not r.deleted
      and not exists (select from pg_temp.entry e where e.id = r.id)`;
    const { rows: measured } = await client.query<{ bytes: string | null }>(
      `select sum(octet_length(r.body)) as bytes ${unmade}`,
    );
    this.#bytes += Number(measured[0]?.bytes ?? 0);
    if (this.#bytes > this.limits.bytes) throw tooLarge();
    const { rows: changed } = await client.query<Changed>(
      `select r.id, r.type, r.last_updated, r.body ${unmade}`,
    );
    const stream = round === 0 ? recordStream(this.of.record) : directoryStream(this.sees.owner);
    const versions = changed.map(({ id, type, last_updated, body }) => ({
      ...{ id, type, stream, body },
      owner: this.sees.owner,
      recordedAt: toInstant(last_updated),
    }));
    if (versions.length > 0) await this.load(client, versions);
  }
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

const uuid = (value: string): string => `${pg.escapeLiteral(value)}::uuid`;
