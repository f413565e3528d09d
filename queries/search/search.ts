/** Search within a type: https://hl7.org/fhir/R4/http.html#search. One statement an answer: the page and its total. */
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { AnswerBudget } from '#src/shared/answer-budget.ts';
import type { Caller } from '#src/shared/caller.ts';
import type { Micros } from '#src/shared/time.ts';
import { encodeCursor } from '../cursor.ts';
import { sizeOf, withLargeBodies } from '../large-bodies.ts';
import type { Asks } from '../prepared.ts';
import type { CurrentResource } from '../read.ts';
import { isByTime, type SearchRequest, understandRequest } from './ask.ts';
import { type FoundRow, openFind } from './find.ts';
import type { ParsedSearch } from './parse.ts';
import { LIMITS, type Limits, planOf } from './plan.ts';

/** A page of matches, and the parsed query. */
export interface SearchPage {
  /** Absent with `_total=none`. */
  readonly total?: number;
  readonly matches: readonly CurrentResource[];
  readonly next?: string;
  /** True if it has fewer matches than requested because of the budget. */
  readonly isShortened?: true;
  readonly used: ParsedSearch['used'];
  readonly unknown: readonly string[];
}

/** Searches. @throws Refusal `malformed` naming a parameter with a bad value or modifier; as `AnswerBudget.takeRows`. */
export type Search = (caller: Caller, request: SearchRequest) => Promise<SearchPage>;

/** Opens search over a database. */
export function openSearch(
  pool: Asks,
  terminology: Terminology = requiredValueSets,
  limits: Limits = LIMITS,
): Search {
  const find = openFind(pool);
  return async (caller, request) => {
    const { search, asked, empty, now } = await understandRequest(pool, terminology, caller.sees, request);
    const { used, unknown } = search;
    if (empty)
      return { ...(asked.total || search.onlyTotal ? { total: 0 } : {}), matches: [], used, unknown };
    if (search.onlyTotal) return { total: await find.total(asked.selection), matches: [], used, unknown };
    const { total, rows } = await find.page(asked, planOf(asked, limits));
    const { budget = new AnswerBudget(), type } = request;
    const fitting = budget.takeRows(rows.slice(0, search.count).map(({ body }) => sizeOf(body)));
    const { matches, ...more } = pageOf(type, rows, fitting, (first) =>
      isByTime(asked.order) ? (asked.made ?? Math.max(now, Number(first.keys[0]))) : null,
    );
    return {
      ...(total === undefined ? {} : { total }),
      matches: await withLargeBodies(pool, caller.sees, matches),
      ...more,
      ...(fitting < Math.min(rows.length, search.count) ? { isShortened: true } : {}),
      used,
      unknown,
    };
  };
}

/** The rows of a page, and the cursor after it when there are more. */
function pageOf(
  type: ResourceType,
  rows: readonly FoundRow[],
  count: number,
  madeAt: (first: FoundRow) => Micros | null,
): Pick<SearchPage, 'matches' | 'next'> {
  // A resource that was deleted while one read model was behind the other is in only one of them.
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
