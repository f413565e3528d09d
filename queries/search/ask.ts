/** A search, understood and ready to be planned: its conditions, with what chains lead to, its order and its place. */
import { z } from 'zod';
import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Letters } from '#src/shared/access.ts';
import type { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Sees } from '#src/shared/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time.ts';
import { CURSOR, decodeCursor } from '../cursor.ts';
import type { Asks } from '../prepared.ts';
import { aboutOf } from './about.ts';
import { compartmentPredicate, type NamedCompartment } from './compartment.ts';
import { merged } from './merge.ts';
import { isEverywhere, type Last, type OrderKey, orderOf } from './order.ts';
import { type ParsedSearch, parseSearch } from './parse.ts';
import type { Asked } from './plan.ts';
import { askedAs } from './predicate.ts';
import { badParameter } from './raw.ts';
import { referableIn } from './referable.ts';
import { type LookedUp, resolved } from './resolve.ts';
import { seenIn } from './seen.ts';

/** A search. */
export interface SearchRequest {
  readonly type: ResourceType;
  readonly query: URLSearchParams;
  /** The Patient compartment: only resources of this record. */
  readonly record?: string;
  /** Another compartment. */
  readonly compartment?: NamedCompartment;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  /** Letters that a grant must have on what is found; default: `s`. */
  readonly letters?: Letters;
  /** Identifiers are compared exactly. */
  readonly exact?: true;
  /** Limits of the page. Default: its own budget. */
  readonly budget?: AnswerBudget;
}

/** A parsed request. */
export interface Understood {
  readonly search: ParsedSearch;
  readonly asked: Asked;
  /** There are no matches, because the caller sees nothing of the type: nothing has to be looked up. */
  readonly empty: boolean;
  readonly now: Micros;
  /** Conditions whose values were looked up beforehand. */
  readonly lookedUp: readonly LookedUp[];
}

/** [when the first page was made, last id, its sort keys]; the first for an order by `_lastUpdated` alone. */
const place = z.tuple([z.int().nullable(), z.uuid()]).rest(z.string().nullable());

/**
 * Parses a request and looks up the targets of its chains.
 * @throws Refusal `malformed` naming a parameter with an invalid value or modifier
 */
export async function understandRequest(
  pool: Asks,
  terminology: Terminology,
  sees: Sees,
  { type, record, compartment, base, exact, query, letters = 's' }: SearchRequest,
): Promise<Understood> {
  const now = nowMicros();
  const { ownerId: tenant } = sees;
  const scope = { type, tenant, sees, base, now, ...(exact === undefined ? {} : { exact }) };
  const referable = await referableIn(pool, sees, `${query}`);
  const search = await parseSearch(
    query,
    referable === undefined ? scope : { ...scope, referable },
    terminology,
  );
  const order = orderOf(type, sees, search.sorts);
  const { made, last } = startOf(search.cursor, order);
  const about = aboutOf(scope, order, search.used);
  const within =
    compartment === undefined
      ? []
      : [askedAs([`${compartment.type}/${compartment.id}`], compartmentPredicate(compartment, scope))];
  const { predicates, lookedUp } = await resolved(pool, [...within, ...search.predicates]);
  const { empty = false, ...seen } = seenIn(sees, letters, type, record);
  const asked = {
    selection: { type, tenant, ...seen, predicates: [...merged(predicates), ...seen.predicates] },
    order,
    limit: search.count + 1,
    total: search.total,
    ...(last === undefined ? {} : { last }),
    ...(made === undefined ? {} : { made }),
    ...(about === undefined ? {} : { about }),
  };
  return { search, asked, empty, now, lookedUp };
}

/** Returns true if an order is by `_lastUpdated` alone, which every write changes. */
export function isByTime(order: readonly OrderKey[]): boolean {
  return order.length === 1 && order[0]?.by === '_lastUpdated';
}

/**
 * Returns where a page begins.
 * @throws Refusal `malformed`
 */
function startOf(cursor: string | undefined, order: readonly OrderKey[]): { made?: Micros; last?: Last } {
  if (cursor === undefined) return {};
  const [made, id, ...keys] = decodeCursor(cursor, place);
  const fits =
    keys.length === order.length &&
    keys.every((key, n) => fitsKey(key, order[n])) &&
    (made !== null) === isByTime(order);
  if (!fits) throw badParameter(CURSOR, 'the value is not a cursor of this search; start again without it');
  return { last: { id, keys }, ...(made === null ? {} : { made }) };
}

/**
 * Checks a key in a cursor; null is valid only for keys that a resource may lack. All have an id and a time.
 */
function fitsKey(key: string | null, of: OrderKey | undefined): boolean {
  return key === null ? of !== undefined && !isEverywhere(of) : VALUES[of?.type ?? 'text'].test(key);
}

/** The valid texts of values in cursors. */
const VALUES: Readonly<Record<OrderKey['type'], RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  int8: /^-?\d{1,18}$|^-?[1-8]\d{18}$/,
  // The digits of a number of 1,000 characters, plus half a unit of its last place.
  numeric: /^-?(?:\d{1,5000}(?:\.\d{1,5000})?|Infinity)$/,
  text: /^[^\0]{0,1000}$/su,
};
