/**
 * Searches several types at once: https://hl7.org/fhir/R4/http.html#search. Such a search accepts the parameters that all of
 * the types support. Without `_sort`, results are listed type by type, each type in its own order; with `_sort=_id` or
 * `_lastUpdated`, they are merged.
 */
import { z } from 'zod';
import { CURSOR, decodeCursor, encodeCursor } from '#queries/cursor.ts';
import type { CurrentResource } from '#queries/read.ts';
import { hasParameter } from '#queries/search/known.ts';
import { badParameter, parameterKey, parseRaw } from '#queries/search/raw.ts';
import type { SearchPage } from '#queries/search/search.ts';
import { DEFAULT_COUNT, isControl, parseCount, refuseRepeated } from '#queries/search/shape.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { unsupportedType } from '#src/fhir/unsupported-type.ts';
import { tooCostly } from '#src/shared/load/answer-budget.ts';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';

/** Searches one type, like `GET <type>?query`. */
export type AskType = (type: ResourceType, query: URLSearchParams) => Promise<SearchPage>;

/**
 * Returns the types in `_type`; undefined if it is absent.
 * @throws Refusal malformed (400)
 */
export function typesIn(query: URLSearchParams): ResourceType[] | undefined {
  const names = query
    .getAll('_type')
    .flatMap((text) => text.split(','))
    .filter((name) => name !== '');
  const types = names.map((name) => {
    if (isResourceType(name)) return name;
    throw badParameter('_type', unsupportedType(name));
  });
  return types.length === 0 ? undefined : [...new Set(types)];
}

/**
 * Returns a page of results from several types.
 * @param query without `_type`; parameters that a type doesn't support are skipped and reported as `unknown`
 * @param shownId returns an id as the caller knows it, for sorting: a resource for which the two ids differ must be the only
 *   match of its type
 * @throws Refusal malformed (400) in the same cases as a search of one type, and for other `_sort` values
 */
export async function searchTypes(
  types: readonly ResourceType[],
  query: URLSearchParams,
  ask: AskType,
  shownId: (id: string) => string,
): Promise<SearchPage> {
  const { common, unknown } = ofAll(types, query);
  const count = readCount(common);
  const order = readOrder(common, shownId);
  const [total, page] = await Promise.all([
    sumTotals(types, common, ask),
    count === 0
      ? NOTHING
      : order === undefined
        ? inTurn(types, common, count, ask)
        : merged(types, common, count, order, ask),
  ]);
  const used = [...common].filter(([name]) => name !== CURSOR);
  return { ...page, ...(total === undefined ? {} : { total }), used, unknown };
}

type Page = Pick<SearchPage, 'matches' | 'next'>;

const NOTHING: Page = { matches: [] };

/** Returns the parameters that all types support, and the names of all other parameters. */
function ofAll(
  types: readonly ResourceType[],
  query: URLSearchParams,
): { common: URLSearchParams; unknown: string[] } {
  const raw = parseRaw(query);
  refuseRepeated(raw);
  const unknown = raw
    .filter((each) => !isControl(each) && !types.every((type) => hasParameter(type, each)))
    .map(parameterKey);
  return { common: new URLSearchParams([...query].filter(([key]) => !unknown.includes(key))), unknown };
}

function readCount(query: URLSearchParams): number {
  if (query.get('_summary') === 'count') return 0;
  const text = query.getAll('_count').findLast((each) => each !== '');
  return text === undefined ? DEFAULT_COUNT : parseCount(text);
}

/** Compares two resources. */
type Order = (a: CurrentResource, b: CurrentResource) => number;

function readOrder(query: URLSearchParams, shownId: (id: string) => string): Order | undefined {
  const text = query.getAll('_sort').findLast((each) => each !== '');
  if (text === undefined) return undefined;
  const sign = text.startsWith('-') ? -1 : 1;
  const byId: Order = (a, b) => (shownId(a.id) < shownId(b.id) ? -sign : sign);
  switch (text.replace(/^-/, '')) {
    case '_id':
      return byId;
    case '_lastUpdated':
      return (a, b) =>
        a.lastUpdated === b.lastUpdated ? byId(a, b) : sign * (a.lastUpdated - b.lastUpdated);
    default:
      throw badParameter('_sort', 'a search of several types can be sorted only by _id or _lastUpdated');
  }
}

/** Returns a query with the given controls replaced. */
function asking(
  query: URLSearchParams,
  controls: Readonly<Record<string, string | undefined>>,
): URLSearchParams {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(controls)) {
    changed.delete(name);
    if (value !== undefined) changed.append(name, value);
  }
  return changed;
}

async function sumTotals(
  types: readonly ResourceType[],
  query: URLSearchParams,
  ask: AskType,
): Promise<number | undefined> {
  if (query.get('_total') === 'none' && readCount(query) > 0) return undefined;
  const counting = asking(query, { _summary: 'count', [CURSOR]: undefined, _total: undefined });
  const pages = await Promise.all(types.map((type) => ask(type, counting)));
  return pages.reduce((sum, { total = 0 }) => sum + total, 0);
}

/** Names and cursors, alternating, of the types that haven't been read to the end; an empty cursor means the beginning. */
const cursorSchema = z.array(z.string()).max(2 * TYPE_NAMES.length);

/**
 * Returns where to continue in each type.
 * @throws Refusal malformed (400) for a cursor from another search
 */
function readPlaces(types: readonly ResourceType[], query: URLSearchParams): [ResourceType, string][] {
  const cursor = query.get(CURSOR);
  if (cursor === null || cursor === '') return types.map((type) => [type, '']);
  return decodePlaces(cursor).map(([type, at]) => {
    if (isResourceType(type) && types.includes(type)) return [type, at];
    throw badParameter(CURSOR, 'the value is not a cursor of this search; start again without it');
  });
}

function decodePlaces(cursor: string): [string, string][] {
  const flat = decodeCursor(cursor, cursorSchema);
  const ofType = new Map(flat.flatMap((type, n) => (n % 2 === 0 ? [[type, flat[n + 1] ?? '']] : [])));
  return [...ofType];
}

function encodePlaces(places: readonly (readonly [ResourceType, string])[]): { next?: string } {
  return places.length === 0 ? {} : { next: encodeCursor(places.flat()) };
}

const from = (query: URLSearchParams, at: string, count: number): URLSearchParams =>
  asking(query, { [CURSOR]: at === '' ? undefined : at, _count: String(count), _total: 'none' });

/** Reads one type after the other. The next page continues at the first results that were not shown. */
async function inTurn(
  types: readonly ResourceType[],
  query: URLSearchParams,
  count: number,
  ask: AskType,
): Promise<Page> {
  const places = readPlaces(types, query);
  const matches: CurrentResource[] = [];
  for (const [n, [type, at]] of places.entries()) {
    const left = count - matches.length;
    const page = await ask(type, from(query, at, Math.max(left, 1)));
    const further = places.slice(n + 1);
    if (left === 0) {
      if (page.matches.length > 0) return { matches, ...encodePlaces([[type, at], ...further]) };
      continue;
    }
    matches.push(...page.matches);
    if (page.next !== undefined) return { matches, ...encodePlaces([[type, page.next], ...further]) };
  }
  return { matches };
}

/** Returns the refusal for pages that can't be merged because one of them was shortened. */
function tooMuchToMerge(): Refusal {
  return tooCostly('would need more resources of each type than the limit');
}

/** Number of attempts to read a page whose resources change while it is being read. */
const TRIES = 5;

async function merged(
  types: readonly ResourceType[],
  query: URLSearchParams,
  count: number,
  order: Order,
  ask: AskType,
): Promise<Page> {
  const places = readPlaces(types, query);
  for (let tried = 0; tried < TRIES; tried += 1) {
    const pages = await Promise.all(places.map(([type, at]) => ask(type, from(query, at, count))));
    if (pages.some(({ isShortened }) => isShortened === true)) throw tooMuchToMerge();
    const matches = pages
      .flatMap((page) => page.matches)
      .sort(order)
      .slice(0, count);
    const ends = await Promise.all(
      places.map(async ([type, at], n): Promise<string | null | undefined> => {
        const page = pages[n];
        const taken = matches.filter((match) => match.type === type);
        if (page === undefined || taken.length === page.matches.length) return page?.next ?? null;
        if (taken.length === 0) return at;
        const again = await ask(type, from(query, at, taken.length));
        return again.matches.at(-1)?.id === taken.at(-1)?.id ? again.next : undefined;
      }),
    );
    if (ends.every((end) => end !== undefined)) {
      const left = places.flatMap(([type], n): [ResourceType, string][] => {
        const end = ends[n];
        return typeof end === 'string' ? [[type, end]] : [];
      });
      return { matches, ...encodePlaces(left) };
    }
  }
  throw unavailable('the searched resources change too fast to sort them; retry in a second');
}
