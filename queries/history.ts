/**
 * History of an instance, a type or the whole system, newest first: https://hl7.org/fhir/R4/http.html#history
 *
 * Order is (recorded_at, event_id), both from the event. The first page fixes the upper end, so that paging does
 * not drift while others write. Automatic Provenances have no rows here: they are views of these rows.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time.ts';
import { Binds } from './binds.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';

/** What a history is asked for. */
export interface HistoryQuery {
  /** Absent: the whole system. */
  readonly type?: ResourceType;
  /** With `type`: one instance. */
  readonly id?: string;
  /** `_since`: only versions recorded at or after it. */
  readonly since?: Micros;
  /** `_at`: only versions that were current at some moment of [from, to). */
  readonly at?: { readonly from: Micros; readonly to: Micros };
  /** Versions a page. */
  readonly count: number;
  readonly cursor?: string;
}

/** One version of one resource, as history shows it. */
export interface HistoryEntry {
  readonly id: string;
  readonly type: ResourceType;
  readonly version: number;
  readonly recordedAt: Micros;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  /** The exact FHIR JSON text; null for a deletion. */
  readonly body: string | null;
}

/** A page of history. */
export interface HistoryPage {
  readonly total: number;
  readonly entries: readonly HistoryEntry[];
  /** Where the next page starts; absent on the last. */
  readonly next?: string;
}

/** Reads a page of history. @throws Refusal `malformed` for a bad cursor. */
export type History = (caller: Caller, query: HistoryQuery) => Promise<HistoryPage>;

interface Row {
  readonly total: number;
  readonly id: string | null;
  readonly type: ResourceType;
  readonly version: number;
  readonly recorded_at: Micros;
  readonly event_id: string;
  readonly operation: HistoryEntry['operation'];
  readonly body: string | null;
}

/** [upper recorded_at, upper event_id, last recorded_at, last event_id] */
const cursorSchema = z.tuple([z.int(), z.uuid(), z.int(), z.uuid()]);

/** Opens history over a database. */
export function openHistory(pool: Pool): History {
  return async (caller, query) => {
    if (query.id !== undefined && !isUuid(query.id)) return { total: 0, entries: [] };
    const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor, cursorSchema);
    const binds = new Binds();
    const sql = historyStatement(binds, caller.tenantId, query, cursor);
    const { rows } = await pool.query<Row>(sql, binds.values);
    return toPage(rows, query.count, cursor);
  };
}

function historyStatement(
  binds: Binds,
  tenant: string,
  query: HistoryQuery,
  cursor: z.infer<typeof cursorSchema> | undefined,
): string {
  const conditions = [`v.tenant = ${binds.add(tenant, 'uuid')}`];
  if (query.type !== undefined) conditions.push(`v.type = ${binds.add(query.type, 'text')}`);
  if (query.id !== undefined) conditions.push(`v.id = ${binds.add(query.id, 'uuid')}`);
  if (query.since !== undefined) conditions.push(`v.recorded_at >= ${binds.add(query.since, 'int8')}`);
  if (query.at !== undefined) conditions.push(current(binds, query.at));
  if (cursor !== undefined) conditions.push(`${KEY} <= ${key(binds, cursor[0], cursor[1])}`);
  const below = cursor === undefined ? '' : `and ${KEY} < ${key(binds, cursor[2], cursor[3])}`;
  const limit = binds.add(query.count + 1, 'int4');
  const where = conditions.join(' and ');
  const order = (alias: string) => `${alias}.recorded_at desc, ${alias}.event_id desc`;
  const page = (types: string, ofType: string) => `
      select s.id, s.type, s.version, s.recorded_at, s.event_id, s.operation, s.body
      from ${types} (
        select v.id, v.type, v.version, v.recorded_at, v.event_id, v.operation, v.body
        from history.version v
        where ${ofType} ${where} ${below}
        order by ${order('v')} limit ${limit}
      ) s
      order by ${order('s')} limit ${limit}`;
  // Of the system: per type, a scan of history.version (tenant, type, recorded_at, event_id) that stops at a page's
  // length, and the pages merged. Of an instance: the primary key (id, version).
  const system = () =>
    page(`unnest(${binds.add(TYPE_NAMES, 'text[]')}) k(type) cross join lateral`, 'v.type = k.type and');
  return `
    select t.total, p.id, p.type, p.version, p.recorded_at, p.event_id, p.operation, p.body
    from (select count(*)::int8 as total from history.version v where ${where}) t
    left join (${query.type === undefined ? system() : page('', '')}) p on true
    order by ${order('p')}`;
}

const KEY = '(v.recorded_at, v.event_id)';

function key(binds: Binds, recordedAt: Micros, eventId: string): string {
  return `(${binds.add(recordedAt, 'int8')}, ${binds.add(eventId, 'uuid')})`;
}

/** Current in [from, to): recorded before its end, and not replaced before its start. */
function current(binds: Binds, at: { from: Micros; to: Micros }): string {
  return `v.recorded_at < ${binds.add(at.to, 'int8')} and not exists (
    select 1 from history.version n
    where n.id = v.id and n.version = v.version + 1 and n.tenant = v.tenant
      and n.recorded_at <= ${binds.add(at.from, 'int8')})`;
}

function toPage(
  rows: readonly Row[],
  count: number,
  cursor: z.infer<typeof cursorSchema> | undefined,
): HistoryPage {
  const found = rows.filter((row) => row.id !== null);
  const page = found.slice(0, count);
  const total = rows[0]?.total ?? 0;
  const entries = page.map((row) => ({
    id: row.id ?? '',
    type: row.type,
    version: row.version,
    recordedAt: row.recorded_at,
    operation: row.operation,
    body: row.body,
  }));
  const last = page.at(-1);
  if (found.length <= count || last === undefined) return { total, entries };
  const [upperTime, upperId] = cursor ?? [page[0]?.recorded_at ?? 0, page[0]?.event_id ?? ''];
  return { total, entries, next: encodeCursor([upperTime, upperId, last.recorded_at, last.event_id]) };
}
