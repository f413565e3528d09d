/** Search within a type: https://hl7.org/fhir/R4/http.html#search. One statement an answer: the page and its total. */
import { z } from 'zod';
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Caller } from '#src/shared/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time.ts';
import { CURSOR, decodeCursor, encodeCursor } from '../cursor.ts';
import { sizeOf, withLargeBodies } from '../large-bodies.ts';
import type { Asks } from '../prepared.ts';
import type { CurrentResource } from '../read.ts';
import { aboutOf } from './about.ts';
import { compartmentPredicate, type NamedCompartment } from './compartment.ts';
import { type Asked, type FoundRow, LIMITS, type Limits, openFind } from './find.ts';
import { merged } from './merge.ts';
import { isEverywhere, type Last, type OrderKey, orderOf } from './order.ts';
import { type ParsedSearch, parseSearch } from './parse.ts';
import { badParameter } from './raw.ts';
import { resolved } from './resolve.ts';

/** A page of matches, and what the query came down to. */
export interface SearchPage {
  /** Absent with `_total=none`. */
  readonly total?: number;
  readonly matches: readonly CurrentResource[];
  readonly next?: string;
  /** It has fewer matches than were asked for, because of the budget. */
  readonly isShortened?: true;
  readonly used: ParsedSearch['used'];
  readonly unknown: readonly string[];
}

/** What is searched. */
export interface SearchRequest {
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  /** The Patient compartment: only what is in this record. */
  readonly record?: string;
  /** Another compartment. */
  readonly compartment?: NamedCompartment;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  /** Whether identifiers compare to the letter. */
  readonly exact?: true;
  /** What the page may hold: it ends where that is used up. Default: a budget of its own. */
  readonly budget?: AnswerBudget;
}

/** Searches. @throws Refusal `malformed` naming a parameter with a bad value or modifier; as `AnswerBudget.takeRows`. */
export type Search = (caller: Caller, request: SearchRequest) => Promise<SearchPage>;

/** [when the first page was made, last id, its sort keys]; the first for an order by `_lastUpdated` alone. */
const place = z.tuple([z.int().nullable(), z.uuid()]).rest(z.string().nullable());

/** Opens search over a database. */
export function openSearch(
  pool: Asks,
  terminology: Terminology = requiredValueSets,
  limits: Limits = LIMITS,
): Search {
  const find = openFind(pool, limits);
  return async (caller, request) => {
    const now = nowMicros();
    const { type, record, compartment, base, exact = false } = request;
    const scope = { type, tenant: caller.tenantId, base, now, exact };
    const search = await parseSearch(request.query, scope, terminology);
    const order = orderOf(type, caller.tenantId, search.sorts);
    const { made, last } = startOf(search.cursor, order);
    const about = aboutOf(scope, order, search.used);
    const within = compartment === undefined ? [] : [compartmentPredicate(compartment, scope)];
    const predicates = merged(await resolved(pool, [...within, ...search.predicates]));
    const asked: Asked = {
      selection: {
        type,
        tenant: caller.tenantId,
        predicates,
        ...(record === undefined ? {} : { record }),
      },
      order,
      limit: search.count + 1,
      total: search.total,
      ...(last === undefined ? {} : { last }),
      ...(made === undefined ? {} : { made }),
      ...(about === undefined ? {} : { about }),
    };
    const { used, unknown } = search;
    if (search.onlyTotal) return { total: await find.total(asked.selection), matches: [], used, unknown };
    const { total, rows } = await find.page(asked);
    const { budget = new AnswerBudget() } = request;
    const fitting = budget.takeRows(rows.slice(0, search.count).map(({ body }) => sizeOf(body)));
    const { matches, ...more } = pageOf(type, rows, fitting, (first) =>
      isByTime(order) ? (made ?? Math.max(now, Number(first.keys[0]))) : null,
    );
    return {
      ...(total === undefined ? {} : { total }),
      matches: await withLargeBodies(pool, caller, matches),
      ...more,
      ...(fitting < Math.min(rows.length, search.count) ? { isShortened: true } : {}),
      used,
      unknown,
    };
  };
}

/** Whether an order is by `_lastUpdated` alone, which every write disturbs. */
function isByTime(order: readonly OrderKey[]): boolean {
  return order.length === 1 && order[0]?.by === '_lastUpdated';
}

/** Where a page begins. @throws Refusal `malformed` */
function startOf(cursor: string | undefined, order: readonly OrderKey[]): { made?: Micros; last?: Last } {
  if (cursor === undefined) return {};
  const [made, id, ...keys] = decodeCursor(cursor, place);
  const fits =
    keys.length === order.length &&
    keys.every((key, n) => fitsKey(key, order[n])) &&
    (made !== null) === isByTime(order);
  if (!fits) throw badParameter(CURSOR, 'the value is not a cursor of this listing');
  return { last: { id, keys }, ...(made === null ? {} : { made }) };
}

/** None is for what may have no value: all have an id and a time. */
function fitsKey(key: string | null, of: OrderKey | undefined): boolean {
  return key === null ? of !== undefined && !isEverywhere(of) : VALUES[of?.type ?? 'text'].test(key);
}

/** What the texts of values look like. */
const VALUES: Readonly<Record<OrderKey['type'], RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  int8: /^-?\d{1,18}$|^-?[1-8]\d{18}$/,
  // As many digits as a number of 1,000 characters has, and half a unit of its last place.
  numeric: /^-?(?:\d{1,5000}(?:\.\d{1,5000})?|Infinity)$/,
  text: /^[^\0]{0,1000}$/su,
};

/** The rows of a page, and the cursor after it when there are more. */
function pageOf(
  type: ResourceType,
  rows: readonly FoundRow[],
  count: number,
  madeAt: (first: FoundRow) => Micros | null,
): Pick<SearchPage, 'matches' | 'next'> {
  // What was deleted while the read models were apart is in one of them alone.
  const matches = rows
    .slice(0, count)
    .flatMap(({ place: id, version, last_updated: lastUpdated, body }) =>
      version === null ? [] : [{ id, type, version, lastUpdated, body }],
    );
  const [first] = rows;
  const end = rows[count - 1];
  if (rows.length <= count || first === undefined || end === undefined) return { matches };
  return { matches, next: encodeCursor([madeAt(first), end.place, ...end.keys]) };
}
