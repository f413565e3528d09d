/**
 * The history of an instance, a type or the whole system, newest first: https://hl7.org/fhir/R4/http.html#history The order is
 * (recorded_at, event_id), both from the event. The first page fixes the upper bound, so that pages don't shift while others
 * write. Automatic Provenances have no rows of their own: they are derived from these rows.
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { Binds } from '../database/binds.ts';
import type { Line } from '../database/gather.ts';
import { plannedEachTime, prepared } from '../database/prepared.ts';
import { bodyOrSize, bodySize, withLargeBodies } from '../read.ts';
import { andSeen, findHome, seesType } from '../sight.ts';
import type { HistoryEntry } from './history-entry.ts';
import { openNewestVersions } from './history-instance.ts';

/** The parameters for a history. */
export interface HistoryQuery {
  /** Absent for the whole system. */
  readonly type?: ResourceType;
  /** With `type`: a single instance. */
  readonly id?: string;
  /** `_since`: only versions recorded at or after this time. */
  readonly since?: Micros;
  /** `_at`: only versions that were current at some time in [from, to). */
  readonly at?: { readonly from: Micros; readonly to: Micros };
  /** Versions per page. */
  readonly count: number;
  readonly cursor?: string;
  /** The budget for the page: when it is used up, the page ends. Default: a separate budget. */
  readonly budget?: AnswerBudget;
}

export interface HistoryPage {
  /** Absent if there are more than `MAX_COUNTED`: counting all of them would cost more than the page. */
  readonly total?: number;
  readonly entries: readonly HistoryEntry[];
  /** The start of the next page; absent on the last page. */
  readonly next?: string;
}

/** The maximum number of versions counted for `total`, which R4 doesn't require. */
const MAX_COUNTED = 10_000;

/**
 * Reads a page of history.
 * @throws Refusal `malformed` for a bad cursor; also in the same cases as `AnswerBudget.takeRows`
 */
export type History = (caller: Caller, query: HistoryQuery) => Promise<HistoryPage>;

interface Row {
  readonly total: number;
  readonly id: string | null;
  readonly type: ResourceType;
  readonly version: number;
  readonly recorded_at: Micros;
  readonly event_id: string;
  readonly operation: HistoryEntry['operation'];
  readonly body: string | Buffer | null;
}

/** The sort order of versions, newest first. For a single instance it is the same as the order of version numbers. */
interface Order {
  readonly columns: readonly {
    readonly name: 'version' | 'recorded_at' | 'event_id';
    readonly type: 'int4' | 'int8' | 'uuid';
  }[];
  /** The key of the first page's first row, then the key of the page's last row. */
  readonly cursor: z.ZodType<(string | number)[]>;
}

const OF_INSTANCE: Order = {
  columns: [{ name: 'version', type: 'int4' }],
  cursor: z.tuple([z.int32(), z.int32()]),
};
const OF_MANY: Order = {
  columns: [
    { name: 'recorded_at', type: 'int8' },
    { name: 'event_id', type: 'uuid' },
  ],
  cursor: z.tuple([z.int(), z.uuid(), z.int(), z.uuid()]),
};

/** Creates the query on a database, and on a line for the most frequent requests. */
export function openHistory(pool: Pool, line: Pick<Line, 'gather'>): History {
  const newest = openNewestVersions(line);
  return async (caller, query) => {
    const { type, id } = query;
    if (id !== undefined && !isUuid(id)) return { total: 0, entries: [] };
    const { budget = new AnswerBudget() } = query;
    const whole = async (page: HistoryPage): Promise<HistoryPage> => ({
      ...page,
      entries: await withLargeBodies(pool, caller.sees, page.entries),
    });
    const { sees } = caller;
    if (type !== undefined && id !== undefined && isPlain(query) && sees.within === undefined) {
      const found = await newest(caller, type, id, query.count);
      return whole(firstPage(found, fitting(found, query.count, budget)));
    }
    const order = query.id === undefined ? OF_MANY : OF_INSTANCE;
    const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor, order.cursor);
    const binds = new Binds();
    const sql = statement(binds, sees, query, order, cursor);
    const form = sees.within !== undefined && id === undefined ? plannedEachTime : prepared;
    const { rows } = await pool.query<Row>(form(sql, binds.values));
    const found = rows.filter((row) => row.id !== null);
    return whole(toPage(rows[0]?.total ?? 0, found, fitting(found, query.count, budget), order, cursor));
  };
}

/** Returns how many of a page's first rows fit the budget. */
function fitting(rows: readonly Pick<Row, 'body'>[], count: number, budget: AnswerBudget): number {
  return budget.takeRows(rows.slice(0, count).map(({ body }) => bodySize(body)));
}

/** Returns true if a query requests the first page without filters. */
function isPlain({ since, at, cursor, count }: HistoryQuery): boolean {
  return since === undefined && at === undefined && cursor === undefined && count > 0;
}

/** Returns an instance's newest versions as a page. Versions have no gaps, so the newest number is also the total. */
function firstPage(found: readonly HistoryEntry[], count: number): HistoryPage {
  const entries = found.slice(0, count);
  const total = entries[0]?.version ?? 0;
  const last = entries.at(-1);
  if (found.length <= count || last === undefined) return { total, entries };
  return { total, entries, next: encodeCursor([total, last.version]) };
}

/**
 * Returns the statement for a page. Indexes: the primary key (id, version) of history.version for an instance;
 * version_of_tenant (tenant, type, recorded_at, event_id) for a type, and for the system once per type, each limited to a page
 * and then merged; version_of_record (record, recorded_at, event_id) for a grant's record.
 */
function statement(
  binds: Binds,
  sees: Sees,
  query: HistoryQuery,
  order: Order,
  cursor: readonly (string | number)[] | undefined,
): string {
  const { columns } = order;
  const { type, id } = query;
  const { within } = sees;
  const owner = `v.tenant = ${binds.add(sees.ownerId, 'uuid')}`;
  const inRecord =
    within !== undefined && id === undefined && (type === undefined || findHome(type) !== 'directory');
  const conditions: string[] = [];
  if (type !== undefined) conditions.push(`v.type = ${binds.add(type, 'text')}`);
  if (id !== undefined) conditions.push(`v.id = ${binds.add(id, 'uuid')}`);
  if (query.since !== undefined) conditions.push(`v.recorded_at >= ${binds.add(query.since, 'int8')}`);
  if (query.at !== undefined) conditions.push(current(binds, query.at));
  const key = `(${columns.map(({ name }) => `v.${name}`).join(', ')})`;
  const bound = (from: number) =>
    `(${columns.map(({ type: of }, index) => binds.add(cursor?.[from + index], of)).join(', ')})`;
  if (cursor !== undefined) conditions.push(`${key} <= ${bound(0)}`);
  const below = cursor === undefined ? '' : `and ${key} < ${bound(columns.length)}`;
  const limit = binds.add(query.count + 1, 'int4');
  const sorted = (alias: string) => columns.map(({ name }) => `${alias}.${name} desc`).join(', ');
  const bind = binds.add.bind(binds);
  const needs = id !== undefined ? 'r' : type !== undefined ? 's' : 'rs';
  const seen = andSeen(sees, needs, { as: 'v', of: 'version', type }, bind);
  const where = [owner, ...conditions].join(' and ');
  const versions = (of: string) => `
      select v.id, v.type, v.version, v.recorded_at, v.event_id, v.operation, ${bodyOrSize('v.body')} as body
      from history.version v
      where ${of} ${seen} ${below}
      order by ${sorted('v')} limit ${limit}`;
  /** The conditions that select versions in the grant's record. The record is used to find them; the tenant is only checked. */
  const ofRecord = () =>
    [`(${owner}) is true`, `v.record = ${binds.add(within?.record, 'uuid')}`, ...conditions].join(' and ');
  const counted = (of: string) => `select 1 from history.version v where ${of} ${seen}`;
  const perType = (types: readonly string[], of: string) => `
      select s.id, s.type, s.version, s.recorded_at, s.event_id, s.operation, s.body
      from unnest(${binds.add(types, 'text[]')}) k(type)
      cross join lateral (${versions(`v.type = k.type and ${of}`)}) s`;
  const page = (): string => {
    if (!inRecord)
      return type === undefined
        ? `${perType(TYPE_NAMES, where)} order by ${sorted('s')} limit ${limit}`
        : versions(where);
    const parts = [`(${versions(ofRecord())})`];
    const others = directoryTypes(sees, type, needs);
    if (others.length > 0) parts.push(`(${perType(others, `v.record is null and ${where}`)})`);
    return `select s.* from (${parts.join(' union all ')}) s order by ${sorted('s')} limit ${limit}`;
  };
  const all = (): string => {
    if (!inRecord) return counted(where);
    const others = directoryTypes(sees, type, needs);
    if (others.length === 0) return counted(ofRecord());
    const directory = `v.record is null and v.type = any(${binds.add(others, 'text[]')}) and ${where}`;
    return `${counted(ofRecord())} union all ${counted(directory)}`;
  };
  return `
    select t.total, p.id, p.type, p.version, p.recorded_at, p.event_id, p.operation, p.body
    from (
      select count(*)::int8 as total from (${all()} limit ${MAX_COUNTED + 1}) c
    ) t
    left join (${page()}) p on true
    order by ${sorted('p')}`;
}

/** Returns the types of directory entries that a caller under a grant sees in a history. */
function directoryTypes(sees: Sees, type: ResourceType | undefined, needs: string): readonly ResourceType[] {
  const types = type === undefined ? TYPE_NAMES : [type];
  return types.filter((each) => findHome(each) !== 'record' && seesType(sees, each, needs));
}

/**
 * Returns the condition that a version was current in [from, to): recorded before the end, and not replaced before the start.
 */
function current(binds: Binds, at: { from: Micros; to: Micros }): string {
  return `v.recorded_at < ${binds.add(at.to, 'int8')} and not exists (
    select 1 from history.version n
    where n.id = v.id and n.version = v.version + 1 and n.tenant = v.tenant
      and n.recorded_at <= ${binds.add(at.from, 'int8')})`;
}

function toPage(
  counted: number,
  found: readonly Row[],
  count: number,
  { columns }: Order,
  cursor: readonly (string | number)[] | undefined,
): HistoryPage {
  const page = found.slice(0, count);
  const total = counted > MAX_COUNTED ? {} : { total: counted };
  const entries = page.map((row) => ({
    id: row.id ?? '',
    type: row.type,
    version: row.version,
    recordedAt: row.recorded_at,
    operation: row.operation,
    body: row.body,
  }));
  const [first] = page;
  const last = page.at(-1);
  if (found.length <= count || first === undefined || last === undefined) return { ...total, entries };
  const rowKey = (row: Row) => columns.map(({ name }) => row[name]);
  const upper = cursor?.slice(0, columns.length) ?? rowKey(first);
  return { ...total, entries, next: encodeCursor([...upper, ...rowKey(last)]) };
}
