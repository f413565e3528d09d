/** Searches within a type: https://hl7.org/fhir/R4/http.html#search. A single statement returns both the page and its total. */
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import type { Asks } from '../database/prepared.ts';
import { bodySize, type CurrentResource, withLargeBodies } from '../read.ts';
import { type SearchRequest, understandRequest } from './ask.ts';
import { type Find, type FoundRow, openFind } from './find.ts';
import type { Last } from './order.ts';
import type { ParsedSearch } from './parse.ts';
import { type Asked, LIMITS, type Limits, planPage } from './plan.ts';
import type { Selection } from './selection.ts';
import {
  cursorAfter,
  cursorBefore,
  cursorsAround,
  isByTime,
  isReversible,
  isTotal,
  lastPage,
  reversed,
  type Start,
} from './start.ts';
import type { Tallies } from './tallies.ts';

/** A page of matches, and the parsed query. */
export interface SearchPage {
  /** Absent with `_total=none`. */
  readonly total?: number;
  readonly matches: readonly CurrentResource[];
  readonly next?: string;
  /** Absent on the first page, and if the order can't be read backward. */
  readonly previous?: string;
  /** Absent on the only page, and if the order can't be read from its end. */
  readonly last?: string;
  /** True if the page has fewer matches than requested because of the budget. */
  readonly isShortened?: true;
  readonly used: ParsedSearch['used'];
  readonly unknown: readonly string[];
}

/**
 * Searches.
 * @throws Refusal `malformed`, naming a parameter with a bad value or modifier; also in the same cases as
 * `AnswerBudget.takeRows`
 */
export type Search = (caller: Caller, request: SearchRequest) => Promise<SearchPage>;

/**
 * Creates the search on a database.
 * @param tallies the tallies for the read model `search`, if a runner keeps them up to date
 */
export function openSearch(
  pool: Asks,
  terminology: Terminology = requiredValueSets,
  limits: Limits = LIMITS,
  tallies?: Tallies,
): Search {
  const find = openFind(pool);
  return async (caller, request) => {
    const parsed = await understandRequest(pool, terminology, caller.sees, request);
    const { search, start, empty } = parsed;
    const selection =
      tallies === undefined ? parsed.asked.selection : withTally(parsed.asked.selection, caller.sees);
    const understood = { ...parsed.asked, selection };
    const { used, unknown } = search;
    if (empty)
      return { ...(understood.total || search.onlyTotal ? { total: 0 } : {}), matches: [], used, unknown };
    if (search.onlyTotal) {
      const total = await find.total(selection);
      if (tallies !== undefined && total >= tallies.broad) tallies.ask(selection);
      return { total, matches: [], used, unknown };
    }
    const asked = await datedPage(find, understood, limits);
    const { total, rows: read } = await find.page(asked, planPage(asked, limits));
    if (tallies !== undefined && total !== undefined && total >= tallies.broad) tallies.ask(selection);
    const rows = start.backward === true ? withValues(read) : read;
    const { budget = new AnswerBudget(), type } = request;
    const most = Math.min(rows.length, asked.limit - 1);
    const fitting = budget.takeRows(rows.slice(0, most).map(({ body }) => bodySize(body)));
    const shown = rows.slice(0, fitting);
    const [first] = rows;
    const made = isByTime(asked.order) && first !== undefined ? (asked.made ?? Number(first.keys[0])) : null;
    const at = ({ place: id, keys }: FoundRow): Last => ({ id, keys });
    const around = cursorsAround(start, shown, rows.length > fitting, {
      after: (row) => cursorAfter(made, at(row)),
      before: (row) => (isReversible(asked.order, row) ? cursorBefore(made, at(row)) : undefined),
    });
    const last = isTotal(asked.order) ? lastPage(search.count, total, around) : {};
    return {
      matches: await withLargeBodies(pool, caller.sees, toMatches(type, shown, start)),
      used,
      unknown,
      ...(total === undefined ? {} : { total }),
      ...around,
      ...last,
      ...(fitting < most ? { isShortened: true } : {}),
    };
  };
}

/**
 * Returns a first page in the order of `_lastUpdated`, oldest first, as of the newest match's time. Resources that are written
 * from then on keep their place on this page and on the next pages, so nothing moves from one page to another. The clock can't
 * supply the page's time, because something may be recorded between reading the clock and running the statement. A page that
 * begins with the newest match takes that match's time.
 */
async function datedPage(find: Find, asked: Asked, limits: Limits): Promise<Asked> {
  if (!isByTime(asked.order) || asked.made !== undefined || asked.order[0]?.descending === true) return asked;
  const newest = { ...asked, order: reversed(asked.order), limit: 1, total: false };
  const [found] = (await find.page(newest, planPage(newest, limits))).rows;
  return found === undefined ? asked : { ...asked, made: Number(found.keys[0]) };
}

/**
 * Returns a selection whose total may come from a tally if the search is as of now and covers everything that a project owns.
 */
function withTally(selection: Selection, { within, asOf }: Sees): Selection {
  return within === undefined && asOf === undefined ? { ...selection, tallied: true } : selection;
}

/** Returns the rows that have a value for the first key: in the reversed order, rows without a value don't follow them. */
function withValues(rows: readonly FoundRow[]): readonly FoundRow[] {
  const without = rows.findIndex(({ keys }) => keys[0] === null);
  return without === -1 ? rows : rows.slice(0, without);
}

function toMatches(
  type: ResourceType,
  shown: readonly FoundRow[],
  { backward }: Start,
): SearchPage['matches'] {
  // If a resource was deleted while one read model was behind the other, only one of them contains the resource.
  const matches = shown.flatMap(({ place: id, version, last_updated: lastUpdated, body }) =>
    version === null ? [] : [{ id, type, version, lastUpdated, body }],
  );
  return backward === true ? matches.reverse() : matches;
}
