/**
 * Searches the access log of a project's records, for auditors. A search reads a limited number of entries, whatever the size
 * of the log.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type AccessRow, namedEntries } from '../access-log.ts';
import { decodeCursorFor, encodeCursorFor } from '../cursor.ts';
import { Binds } from '../database/binds.ts';
import { findPeople } from './people.ts';

/** An entry with its proof, and with data that is derived from it. */
export interface AuditedAccess extends AccessRow {
  /** The entry's hash, 64 hex digits. */
  readonly hash: string;
  /** The name of the organization to which the application, key or member belongs; null for other actors. */
  readonly organization: string | null;
  /**
   * The source system of the resource that was read, as of the time of the read; null if no resource was read, or if the
   * resource names no source system.
   */
  readonly source_system: string | null;
}

/** A search's conditions; all given conditions must be met. */
export interface AccessAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly patient?: string | undefined;
  readonly application?: string | undefined;
  readonly key?: string | undefined;
  /** The subject of a person's ID token, or part of the e-mail address of a member of the project's organization. */
  readonly person?: string | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly status?: string | undefined;
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
}

/** A page of a search. */
export interface AccessPage {
  readonly rows: readonly AuditedAccess[];
  readonly next: string | undefined;
  /** The time back to which this page has searched, if the search ended before the page was full. */
  readonly searchedTo: Micros | undefined;
}

/** The head of a patient's access log. */
export interface AccessLogHead {
  readonly entries: number;
  /** The last entry's hash, 64 hex digits. */
  readonly hash: string;
}

/** Queries about the access log. */
export interface AccessSearch {
  /**
   * Searches entries, newest first.
   * @throws Refusal invalid (422) for a cursor from a different search
   */
  readonly accesses: (tenant: Tenant, asked: AccessAsked) => Promise<AccessPage>;
  /** Returns the head of a patient's access log; undefined if it has no entries. */
  readonly accessHead: (patient: string) => Promise<AccessLogHead | undefined>;
}

/** The maximum number of entries to examine for a page. */
const LOOKED_THROUGH = 20_000;
/**
 * A search that has only a period goes back in steps of growing length: the length of the first step in µs, and the growth
 * factor.
 */
const FIRST_STEP = 60_000_000;
const GROWTH = 4;
/** No entry is older than this time, in 2020. */
const OLDEST = 1_577_836_800_000_000;

const place = z.tuple([z.int(), z.string().refine(isUuid), z.int()]);
type Place = z.infer<typeof place>;

const ORDER = 'order by e.at desc, e.record desc, e.seq desc';
const KEY = 'select e.at::float8 as at, e.record, e.seq::float8 as seq';

/**
 * Returns entries with the data derived from them. Indexes: primary keys of application, project and organization; api_key
 * (key_id); history.version (id, version).
 */
const derived = (organization: string): string => `
select n.*, encode(p.hash, 'hex') as hash,
       case when n.role = 'member' then ${organization} else o.name end as organization,
       case when n.resource_id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' then (
         select v.metadata::jsonb ->> 'source_system' from history.version v
          where v.id = n.resource_id::uuid and v.recorded_at <= n.at order by v.version desc limit 1)
       end as source_system
  from (${namedEntries('page')}) n
  join page p on p.record = n.record and p.seq = n.seq
  left join projects.application a on n.actor_kind = 'application' and a.id = n.actor_id
  left join projects.api_key k on n.actor_kind = 'key' and k.key_id = n.actor_id
  left join projects.project j on j.id = coalesce(a.project, k.project)
  left join projects.organization o on o.id = j.organization
 order by n.at desc, n.record desc, n.seq desc`;

/**
 * Creates the queries.
 * @param lookedThrough set only by tests
 */
export function openAccessSearch(pool: Pool, lookedThrough = LOOKED_THROUGH): AccessSearch {
  return {
    async accesses(tenant, asked) {
      const { limit, cursor, ...conditions } = asked;
      const list = JSON.stringify(['accesses', tenantId(tenant), conditions]);
      const after = cursor === undefined ? undefined : decodeCursorFor(list, cursor, place);
      if (asked.patient !== undefined && !isUuid(asked.patient))
        return { rows: [], next: undefined, searchedTo: undefined };
      const actors = await findActors(tenant, asked);
      const rows: Place[] = [];
      for (const step of steps(asked, after, actors)) {
        const found = await readKeys(tenant, asked, step, limit + 1 - rows.length);
        rows.push(...found);
        if (rows.length > limit) break;
        const end = await findEnd(step);
        if (end === undefined) continue;
        return {
          rows: await readEntries(tenant, rows),
          next: encodeCursorFor(list, end),
          searchedTo: end[0],
        };
      }
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      const more = rows.length > limit && last !== undefined;
      return {
        rows: await readEntries(tenant, shown),
        next: more ? encodeCursorFor(list, last) : undefined,
        searchedTo: undefined,
      };
    },
    async accessHead(patient) {
      if (!isUuid(patient)) return undefined;
      const { rows } = await pool.query<AccessLogHead>({
        name: 'audit-access-head',
        text: `select h.entries::float8 as entries, encode(h.hash, 'hex') as hash from operations.access_head h
          where h.record = $1 and not h.erased and h.entries > 0`,
        values: [patient],
      });
      return rows[0];
    },
  };

  /** Returns the ids of the requested actors; undefined if every actor is accepted. */
  async function findActors(
    { project }: Tenant,
    { application, key, person }: AccessAsked,
  ): Promise<string[] | undefined> {
    const given = [application, key].flatMap((each) => each ?? []);
    if (person === undefined) return given.length === 0 ? undefined : given;
    return [...given, person, ...(await findPeople(pool, project, person))];
  }

  /** Reads the places of the entries within a step that meet all conditions. */
  async function readKeys(tenant: Tenant, asked: AccessAsked, step: Step, most: number): Promise<Place[]> {
    const binds = new Binds();
    const looked = `select e.* from operations.access_entry e where ${step.where(binds)} ${step.order} limit ${lookedThrough}`;
    const filters = [
      // Index: primary key of resources.resource.
      `exists (select from resources.resource r where r.id = e.record and r.type = 'Patient'
        and r.tenant = ${binds.add(tenantId(tenant), 'uuid')})`,
      ...(asked.application === undefined ? [] : [`e.actor_kind = 'application'`]),
      ...(asked.key === undefined ? [] : [`e.actor_kind = 'key'`]),
      ...(asked.person === undefined ? [] : [`e.actor_kind = 'person'`]),
      ...(asked.actions === undefined ? [] : [`e.action = any(${binds.add(asked.actions, 'text[]')})`]),
      ...(asked.status === undefined ? [] : [`e.status = ${binds.add(asked.status, 'text')}`]),
      ...(step.actors === undefined ? [] : [`e.actor_id = any(${binds.add(step.actors, 'text[]')})`]),
    ];
    const { rows } = await pool.query<{ at: number; record: string; seq: number }>({
      text: `${KEY} from (${looked}) e where ${filters.join(' and ')} ${ORDER} limit ${most}`,
      values: binds.values,
    });
    return rows.map(({ at, record, seq }) => [at, record, seq]);
  }

  /** Returns the last entry that a step examined, if the step may contain more. */
  async function findEnd(step: Step): Promise<Place | undefined> {
    const binds = new Binds();
    const { rows } = await pool.query<{ at: number; record: string; seq: number }>({
      text: `${KEY} from operations.access_entry e where ${step.where(binds)} ${step.order} offset ${lookedThrough - 1} limit 2`,
      values: binds.values,
    });
    const [last] = rows;
    return rows.length === 2 && last !== undefined ? [last.at, last.record, last.seq] : undefined;
  }

  async function readEntries(tenant: Tenant, places: readonly Place[]): Promise<AuditedAccess[]> {
    if (places.length === 0) return [];
    const { rows } = await pool.query<AuditedAccess>({
      name: 'audit-accesses',
      text: `with page as materialized (
          select e.* from unnest($1::uuid[], $2::int8[]) as x(record, seq)
            join operations.access_entry e on e.record = x.record and e.seq = x.seq)
        ${derived('(select o.name from projects.project j join projects.organization o on o.id = j.organization where j.id = $3)')}`,
      values: [places.map(([, record]) => record), places.map(([, , seq]) => seq), tenant.project],
    });
    return rows;
  }
}

/** A part of the log that is read in one go. */
interface Step {
  /** The condition with which an index finds the entries of this part. */
  readonly where: (binds: Binds) => string;
  /** The index's order, newest first. */
  readonly order: string;
  /** The actors that still have to be compared with each entry. */
  readonly actors: readonly string[] | undefined;
}

/**
 * Returns the parts that a search examines, newest first: for a patient, by the primary key (record, seq), along which times
 * never go back; for actors, by access_entry_of_actor (actor_id, at); for a period, by access_entry_at (brin), in steps of
 * growing length.
 */
function* steps(
  { patient, from, to }: AccessAsked,
  after: Place | undefined,
  actors: readonly string[] | undefined,
): Generator<Step> {
  const before = (binds: Binds): string[] =>
    after === undefined
      ? []
      : [
          `(e.at, e.record, e.seq) < (${binds.add(after[0], 'int8')}, ${binds.add(after[1], 'uuid')}, ${binds.add(after[2], 'int8')})`,
        ];
  const within = (binds: Binds, low: Micros | undefined, high: Micros | undefined): string[] => [
    ...(low === undefined ? [] : [`e.at >= ${binds.add(low, 'int8')}`]),
    ...(high === undefined ? [] : [`e.at < ${binds.add(high, 'int8')}`]),
  ];
  if (patient !== undefined) {
    yield {
      actors,
      order: 'order by e.seq desc',
      where: (binds) => {
        const record = binds.add(patient, 'uuid');
        const first = (moment: Micros): string =>
          `(select operations.access_seq_from(${record}, ${binds.add(moment, 'int8')}))`;
        return [
          `e.record = ${record}`,
          ...(from === undefined ? [] : [`e.seq >= ${first(from)}`]),
          ...(to === undefined ? [] : [`e.seq < ${first(to)}`]),
          ...(after === undefined ? [] : [`e.seq < ${binds.add(after[2], 'int8')}`]),
        ].join(' and ');
      },
    };
    return;
  }
  if (actors !== undefined) {
    const [only, ...others] = actors;
    yield {
      actors: undefined,
      order: ORDER,
      where: (binds) =>
        [
          others.length === 0
            ? `e.actor_id = ${binds.add(only, 'text')}`
            : `e.actor_id = any(${binds.add(actors, 'text[]')})`,
          ...within(binds, from, to),
          ...before(binds),
        ].join(' and '),
    };
    return;
  }
  const now = Date.now() * 1000 + FIRST_STEP;
  const newest = Math.min(to ?? now, after === undefined ? now : after[0] + 1);
  const oldest = Math.max(from ?? OLDEST, OLDEST);
  for (let high = newest, length = FIRST_STEP; high > oldest; length *= GROWTH) {
    const low = Math.max(high - length, oldest);
    const end = high;
    yield {
      actors: undefined,
      order: ORDER,
      where: (binds) => [...within(binds, low, end), ...before(binds)].join(' and '),
    };
    high = low;
  }
}
