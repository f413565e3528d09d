/**
 * Searches events in a project's records and directory, for auditors: versions of resources in `history.version`, and the
 * other events of records in `consents.events`. A search reads a limited number of rows, whatever the size of the log.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { decodeCursorFor, encodeCursorFor } from '../cursor.ts';
import { Binds } from '../database/binds.ts';
import type { CredentialIds } from './names.ts';
import { containing, findPeople } from './people.ts';

/** An event without its content. */
export interface EventRow {
  readonly id: string;
  readonly at: Micros;
  /** Type of the event. */
  readonly type: string;
  /** The type of the resource of which the event is a version; null for other events, as are the next two members. */
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly version: number | null;
  /** The patient; null in the directory. */
  readonly record: string | null;
  /** The event's metadata as JSON, without `append` and `hash`. */
  readonly metadata: string;
  /** For an event about a project itself: the key or application that it is about, or the URL or id of the webhook endpoint. */
  readonly subject?: Omit<CredentialIds, 'kind'> | string | undefined;
}

/** A search's conditions; all given conditions must be met. */
export interface EventsAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** The earliest time, inclusive. */
  readonly from?: Micros | undefined;
  /** Before this moment. */
  readonly to?: Micros | undefined;
  readonly types?: readonly string[] | undefined;
  readonly patient?: string | undefined;
  /** `Type` or `Type/id`. */
  readonly resource?: { readonly type: string; readonly id?: string | undefined } | undefined;
  /** A reference, an author type, a subject, or part of a name or of a member's e-mail address. */
  readonly author?: string | undefined;
  readonly authorType?: string | undefined;
  readonly key?: string | undefined;
  readonly application?: string | undefined;
  readonly requestId?: string | undefined;
}

/** A page of a search. */
export interface EventPage {
  readonly rows: readonly EventRow[];
  /** Undefined once everything has been searched. */
  readonly next: string | undefined;
  /** The time back to which this page has searched, if the search ended before the page was full. */
  readonly searchedTo: Micros | undefined;
}

/** An event, and the environment to which it belongs. */
export interface EventPlace extends EventRow {
  readonly environment: Tenant['environment'];
}

/** Queries about events. */
export interface EventQueries {
  /**
   * Searches events, newest first.
   * @throws Refusal invalid (422) for a cursor from a different search
   */
  readonly events: (tenant: Tenant, asked: EventsAsked) => Promise<EventPage>;
  /** Finds an event in a project's records and directories by its id. */
  readonly event: (project: string, id: string) => Promise<EventPlace | undefined>;
}

/** The maximum number of rows to examine for a page. */
const LOOKED_THROUGH = 20_000;

const OPERATIONS = {
  ResourceCreated: 'CREATE',
  ResourceUpdated: 'UPDATE',
  ResourceDeleted: 'DELETE',
} as const;

const TYPE_OF = `case v.operation when 'CREATE' then 'ResourceCreated' when 'UPDATE' then 'ResourceUpdated'
  else 'ResourceDeleted' end`;
const VERSION = `v.event_id, v.recorded_at, ${TYPE_OF} as type, v.type as resource_type, v.id as resource_id, v.version, v.record, v.metadata`;
const OTHER = `v.event_id, v.recorded_at, v.type, null::text as resource_type, null::uuid as resource_id, null::int as version, v.record, v.metadata`;
const ROW = `v.event_id as id, v.recorded_at::float8 as at, v.type, v.resource_type, v.resource_id, v.version, v.record, v.metadata`;

const place = z.tuple([z.int(), z.string().refine(isUuid)]);

/**
 * Creates the queries.
 * @param lookedThrough set only by tests
 */
export function openEventQueries(pool: Pool, lookedThrough = LOOKED_THROUGH): EventQueries {
  return {
    async events(tenant, asked) {
      const { limit, cursor, ...conditions } = asked;
      const list = JSON.stringify(['events', tenantId(tenant), conditions]);
      const after = cursor === undefined ? undefined : decodeCursorFor(list, cursor, place);
      const binds = new Binds();
      const people = asked.author === undefined ? [] : await findPeople(pool, tenant.project, asked.author);
      const filters = listFilters(binds, asked, people);
      const most = filters.length === 0 ? limit + 1 : lookedThrough;
      const looked = selectLookedAt(binds, tenantId(tenant), asked, after, most);
      if (looked === undefined) return { rows: [], next: undefined, searchedTo: undefined };
      const where = filters.length === 0 ? '' : `where ${filters.join(' and ')}`;
      const { rows } = await pool.query<EventRow>({
        text: `select ${ROW} from (
            select v.* from (${looked}) v order by v.recorded_at desc, v.event_id desc limit ${most}) v ${where}
          order by v.recorded_at desc, v.event_id desc limit ${limit + 1}`,
        values: binds.values,
      });
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      if (rows.length > limit && last !== undefined)
        return { rows: shown, next: encodeCursorFor(list, [last.at, last.id]), searchedTo: undefined };
      const end = filters.length === 0 ? undefined : await findEnd(tenant, asked, after);
      if (end === undefined) return { rows: shown, next: undefined, searchedTo: undefined };
      return { rows: shown, next: encodeCursorFor(list, [end.at, end.id]), searchedTo: end.at };
    },
    async event(project, id) {
      if (!isUuid(id)) return undefined;
      // Indexes: history.version_event (event_id); primary key of consents.events.
      const tenants = (['sandbox', 'production'] as const).map((environment) => ({
        environment,
        id: tenantId({ project, environment }),
      }));
      const { rows } = await pool.query<EventRow & { readonly tenant: string }>({
        name: 'audit-event',
        text: `select ${ROW}, v.tenant from (
            select ${VERSION}, v.tenant from history.version v where v.event_id = $1 and v.tenant = any($2::uuid[])
            union all
            select ${OTHER}, v.tenant from consents.events v where v.event_id = $1 and v.tenant = any($2::uuid[])) v
          limit 1`,
        values: [id, tenants.map((each) => each.id)],
      });
      const [row] = rows;
      if (row === undefined) return undefined;
      const { tenant, ...found } = row;
      const environment = tenants.find((each) => each.id === tenant)?.environment ?? 'sandbox';
      return { ...found, environment };
    },
  };

  /** Returns the last row that a search examined, if there may be more rows after it. */
  async function findEnd(
    tenant: Tenant,
    asked: EventsAsked,
    after: readonly [Micros, string] | undefined,
  ): Promise<Pick<EventRow, 'id' | 'at'> | undefined> {
    const binds = new Binds();
    const looked = selectLookedAt(binds, tenantId(tenant), asked, after, lookedThrough + 1);
    const { rows } = await pool.query<Pick<EventRow, 'id' | 'at'>>({
      text: `select v.event_id as id, v.recorded_at::float8 as at from (${looked}) v
        order by v.recorded_at desc, v.event_id desc offset ${lookedThrough - 1} limit 2`,
      values: binds.values,
    });
    return rows.length === 2 ? rows[0] : undefined;
  }
}

/**
 * Returns SQL for the rows that a search examines: a union in which each part is read from an index in time order; undefined
 * if no row can match. Indexes: for a resource, the primary key (id, version) of history.version; for a patient,
 * version_of_record (record, recorded_at, event_id) and consents.events_of_record; otherwise version_of_tenant (tenant, type,
 * recorded_at, event_id), one part per type, and consents.events_of_tenant (tenant, recorded_at, event_id).
 */
function selectLookedAt(
  binds: Binds,
  tenant: string,
  asked: EventsAsked,
  after: readonly [Micros, string] | undefined,
  most: number,
): string | undefined {
  const { types, patient, resource } = asked;
  if (patient !== undefined && !isUuid(patient)) return undefined;
  if (resource?.id !== undefined && !isUuid(resource.id)) return undefined;
  const owner = binds.add(tenant, 'uuid');
  const record = patient === undefined ? undefined : `v.record = ${binds.add(patient, 'uuid')}`;
  const id = resource?.id === undefined ? undefined : `v.id = ${binds.add(resource.id, 'uuid')}`;
  const within = [
    ...(asked.from === undefined ? [] : [`v.recorded_at >= ${binds.add(asked.from, 'int8')}`]),
    ...(asked.to === undefined ? [] : [`v.recorded_at < ${binds.add(asked.to, 'int8')}`]),
    ...(after === undefined
      ? []
      : [`(v.recorded_at, v.event_id) < (${binds.add(after[0], 'int8')}, ${binds.add(after[1], 'uuid')})`]),
  ];
  const operations = Object.entries(OPERATIONS).flatMap(([type, operation]) =>
    types === undefined || types.includes(type) ? operation : [],
  );
  // Each part has its own order and limit; without them, the planner would read and sort whole parts.
  const limited = (rows: string): string =>
    `(${rows} order by v.recorded_at desc, v.event_id desc limit ${most})`;
  const versions = (conditions: readonly string[]): string =>
    limited(`select ${VERSION} from history.version v where ${[...conditions, ...within].join(' and ')}`);
  const parts: string[] = [];
  if (operations.length > 0) {
    // If a different index finds the rows, the owner is compared in a form that no index supports.
    const owned = `(v.tenant = ${owner}) is true`;
    const ofType = (type: string): string => `v.type = ${binds.add(type, 'text')}`;
    const found = [id, record].flatMap((each) => each ?? []);
    if (found.length > 0)
      parts.push(versions([...found, owned, ...(resource === undefined ? [] : [ofType(resource.type)])]));
    else
      for (const type of resource === undefined ? TYPE_NAMES : [resource.type])
        parts.push(versions([`v.tenant = ${owner}`, ofType(type)]));
  }
  const others = types?.filter((type) => !(type in OPERATIONS));
  if (resource === undefined && (others === undefined || others.length > 0)) {
    const conditions = [
      ...(record === undefined ? [`v.tenant = ${owner}`] : [record, `(v.tenant = ${owner}) is true`]),
      ...within,
    ];
    parts.push(limited(`select ${OTHER} from consents.events v where ${conditions.join(' and ')}`));
  }
  return parts.length === 0 ? undefined : parts.join('\nunion all\n');
}

/**
 * Returns conditions on the examined rows. A member of the metadata is found by its text: JSON escapes a quotation mark inside
 * a value, so `"key_id":"…"` can only be a member.
 */
function listFilters(
  binds: Binds,
  { types, key, application, author, authorType, requestId }: EventsAsked,
  people: readonly string[],
): string[] {
  const member = (name: string, value: string): string =>
    `strpos(v.metadata, ${binds.add(`${JSON.stringify(name)}:${JSON.stringify(value)}`, 'text')}) > 0`;
  return [
    ...(types === undefined ? [] : [`v.type = any(${binds.add(types, 'text[]')})`]),
    ...(key === undefined ? [] : [member('key_id', key)]),
    ...(application === undefined ? [] : [member('application', application)]),
    ...(requestId === undefined ? [] : [member('request_id', requestId)]),
    ...(author === undefined ? [] : [byAuthor(author)]),
    ...(authorType === undefined
      ? []
      : [`v.metadata::jsonb #>> '{author,type}' = ${binds.add(authorType, 'text')}`]),
  ];

  function byAuthor(text: string): string {
    if (/^[A-Z]\w+\/./.test(text)) return `(${member('reference', text)} or ${member('acting_as', text)})`;
    const part = binds.add(containing(text), 'text');
    const parsed = 'v.metadata::jsonb';
    const subjects = [text, ...people].map((subject) => member('subject', subject)).join(' or ');
    return `(${subjects} or ${parsed} #>> '{author,type}' = ${binds.add(text.toLowerCase(), 'text')}
      or lower(${parsed} #>> '{author,display}') like ${part} or lower(${parsed} ->> 'acting_as_display') like ${part})`;
  }
}
