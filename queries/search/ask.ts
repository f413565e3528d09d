/** A search, understood and ready to be planned: its conditions, with what chains lead to, its order and its place. */
import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Letters } from '#src/shared/access.ts';
import type { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Sees } from '#src/shared/caller.ts';
import { type Micros, nowMicros } from '#src/shared/time.ts';
import type { Asks } from '../prepared.ts';
import { aboutOf } from './about.ts';
import { compartmentPredicate, type NamedCompartment } from './compartment.ts';
import { merged } from './merge.ts';
import { orderOf } from './order.ts';
import { type ParsedSearch, parseSearch } from './parse.ts';
import type { Asked } from './plan.ts';
import { askedAs } from './predicate.ts';
import { referableIn } from './referable.ts';
import { type LookedUp, resolved } from './resolve.ts';
import { seenIn } from './seen.ts';
import { readStart, reversed, type Start } from './start.ts';

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
  /** The page in the order in which it is read: the reversed one for a page that is read backward. */
  readonly asked: Asked;
  readonly start: Start;
  /** There are no matches, because the caller sees nothing of the type: nothing has to be looked up. */
  readonly empty: boolean;
  readonly now: Micros;
  /** Conditions whose values were looked up beforehand. */
  readonly lookedUp: readonly LookedUp[];
}

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
  const sorted = orderOf(type, sees, search.sorts);
  const start = readStart(search.cursor, sorted);
  const { made, last, backward, most } = start;
  const order = backward === true ? reversed(sorted) : sorted;
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
    limit: Math.min(search.count, most ?? search.count) + 1,
    total: search.total,
    ...(last === undefined ? {} : { last }),
    ...(made === undefined ? {} : { made }),
    ...(about === undefined ? {} : { about }),
  };
  return { search, asked, start, empty, now, lookedUp };
}
