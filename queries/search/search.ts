/** Search within a type: https://hl7.org/fhir/R4/http.html#search. One statement an answer: the page and its total. */
import { z } from 'zod';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time.ts';
import { Binds } from '../binds.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { type Asks, prepared } from '../prepared.ts';
import type { CurrentResource } from '../read.ts';
import type { Sort } from './controls.ts';
import { type ParsedSearch, parseSearch } from './parse.ts';
import { allOf, ofTenant } from './predicate.ts';

/** A page of matches, and what the query came down to. */
export interface SearchPage {
  /** Absent with `_total=none`. */
  readonly total?: number;
  readonly matches: readonly CurrentResource[];
  readonly next?: string;
  readonly used: ParsedSearch['used'];
  readonly unknown: readonly string[];
}

/** What is searched. */
export interface SearchRequest {
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  /** The Patient compartment: only what is in this record. */
  readonly record?: string;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
}

/** Searches. @throws Refusal `malformed` naming a parameter with a bad value or modifier. */
export type Search = (caller: Caller, request: SearchRequest) => Promise<SearchPage>;

interface Row {
  readonly total: number | null;
  readonly id: string | null;
  readonly version: number;
  readonly last_updated: Micros;
  readonly body: string;
  readonly key: Micros;
}

/** By id: [last id]. By time: [when the first page was made, last time, last id]. */
const byId = z.tuple([z.uuid()]);
const byTime = z.tuple([z.int(), z.int(), z.uuid()]);

/** Opens search over a database. */
export function openSearch(pool: Asks): Search {
  return async (caller, request) => {
    const now = nowMicros();
    const scope = { type: request.type, tenant: caller.tenantId, base: request.base, now };
    const search = parseSearch(request.query, scope);
    const binds = new Binds();
    const keyed =
      request.record !== undefined || search.predicates.some((predicate) => predicate.keyed === true);
    const conditions = [
      ofTenant(caller.tenantId, keyed, binds),
      `r.type = ${binds.add(request.type, 'text')}`,
      'not r.deleted',
      allOf(search.predicates, binds),
    ];
    if (request.record !== undefined) conditions.push(`r.record = ${binds.add(request.record, 'uuid')}`);
    const where = conditions.join(' and ');
    const page = search.onlyTotal ? undefined : pageOf(search, where, binds);
    const { rows } = await pool.query<Row>(prepared(statement(search, where, page), binds.values));
    return toPage(rows, request.type, search, now);
  };
}

const COLUMNS = 'r.id, r.version, r.last_updated, r.body';

function statement(search: ParsedSearch, where: string, page: string | undefined): string {
  const total =
    search.total || page === undefined
      ? `select count(*)::int8 as total from resources.resource r where ${where}`
      : 'select null::int8 as total';
  if (page === undefined) return `select t.total, null as id from (${total}) t`;
  const direction = search.sort.descending ? 'desc' : 'asc';
  return `
    select t.total, p.id, p.version, p.last_updated, p.body, p.key
    from (${total}) t left join (${page}) p on true
    order by p.key ${direction}, p.id ${direction}`;
}

/** The rows of a page. */
function pageOf(search: ParsedSearch, where: string, binds: Binds): string {
  const limit = binds.add(search.count + 1, 'int4');
  const order = search.sort.descending ? 'desc' : 'asc';
  const beyond = search.sort.descending ? '<' : '>';
  if (search.sort.by === '_id') {
    const after =
      search.cursor === undefined
        ? ''
        : `and r.id ${beyond} ${binds.add(decodeCursor(search.cursor, byId)[0], 'uuid')}`;
    return `select ${COLUMNS}, 0::int8 as key from resources.resource r
      where ${where} ${after} order by r.id ${order} limit ${limit}`;
  }
  const page = (after: string) => `select ${COLUMNS}, r.last_updated as key from resources.resource r
    where ${where} ${after} order by r.last_updated ${order}, r.id ${order} limit ${limit}`;
  if (search.cursor === undefined) return page('');
  const [made, time, id] = decodeCursor(search.cursor, byTime);
  const upper = binds.add(made, 'int8');
  const last = `(${binds.add(time, 'int8')}, ${binds.add(id, 'uuid')})`;
  // What was written since the first page was made keeps the place it had then (its version of that moment, by the
  // primary key of history.version), so that nothing moves over a page's border and is missed or shown twice.
  return `
    select u.id, u.version, u.last_updated, u.body, u.key from (
      (${page(`and r.last_updated <= ${upper} and (r.last_updated, r.id) ${beyond} ${last}`)})
      union all
      (select ${COLUMNS}, h.recorded_at as key
      from resources.resource r cross join lateral (
        select v.recorded_at from history.version v
        where v.id = r.id and v.tenant = r.tenant and v.recorded_at <= ${upper}
        order by v.version desc limit 1
      ) h
      where ${where} and r.last_updated > ${upper} and (h.recorded_at, r.id) ${beyond} ${last})
    ) u
    order by u.key ${order}, u.id ${order} limit ${limit}`;
}

function toPage(rows: readonly Row[], type: ResourceType, search: ParsedSearch, now: Micros): SearchPage {
  const { used, unknown } = search;
  const found = rows.filter((row): row is Row & { id: string } => row.id !== null);
  const matches = found.slice(0, search.count).map((row) => ({
    id: row.id,
    type,
    version: row.version,
    lastUpdated: row.last_updated,
    body: row.body,
  }));
  const total = rows[0]?.total;
  const counted = typeof total === 'number' ? { total } : {};
  const last = found[search.count - 1];
  if (found.length <= search.count || last === undefined) return { ...counted, matches, used, unknown };
  return {
    ...counted,
    matches,
    used,
    unknown,
    next: cursorAfter(search.sort, search.cursor, found[0], last, now),
  };
}

function cursorAfter(
  sort: Sort,
  cursor: string | undefined,
  first: Row | undefined,
  last: Row & { id: string },
  now: Micros,
): string {
  if (sort.by === '_id') return encodeCursor([last.id]);
  const made = cursor === undefined ? Math.max(now, first?.key ?? 0) : decodeCursor(cursor, byTime)[0];
  return encodeCursor([made, last.key, last.id]);
}
