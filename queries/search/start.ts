/**
 * The start of a search's page, and the cursors for the previous and the next page. A page is read forward from the end of the
 * previous page, or backward, either from the beginning of the next page or from the end of all matches.
 */
import { z } from 'zod';
import type { Micros } from '#src/shared/time/time.ts';
import { CURSOR, decodeCursor, encodeCursor } from '../cursor.ts';
import { isEverywhere, type Last, type OrderKey } from './order.ts';
import { badParameter } from './raw.ts';

/** The start of a page; empty for the first page. */
export interface Start {
  /** For an order by `_lastUpdated`, the time as of which the first page was read. */
  readonly made?: Micros;
  /** The row adjacent to the page. If absent, the page is at one end of the matches. */
  readonly last?: Last;
  /** True for a page that is read in the reversed order and comes before `last`. */
  readonly backward?: true;
  /** The number of rows on the last page. */
  readonly most?: number;
}

/**
 * [when the first page was made, last id, its sort keys]; the first element is set only for an order solely by `_lastUpdated`.
 */
const place = z.tuple([z.int().nullable(), z.uuid()]).rest(z.string().nullable());
const before = z.tuple([z.literal('before'), z.int().nullable(), z.uuid()]).rest(z.string().nullable());
/** The schema of the cursor for the last page. */
export const end = z.tuple([z.literal('end'), z.int().min(1)]);
const start = z.union([place, before, end]);

/** Returns the cursor for the page after a row. */
export function cursorAfter(made: Micros | null, { id, keys }: Last): string {
  return encodeCursor([made, id, ...keys]);
}

/** Returns the cursor for the page before a row. */
export function cursorBefore(made: Micros | null, { id, keys }: Last): string {
  return encodeCursor(['before', made, id, ...keys]);
}

/** Cursors for the pages before and after a page; '' for the first page. */
export interface Around {
  readonly next?: string;
  readonly previous?: string;
}

/**
 * Returns the cursors for the pages before and after a page.
 * @param start the start of the page
 * @param shown its rows in the order in which they were read
 * @param more true if there are further rows after these
 * @param to makes the cursors for the pages after and before a row; undefined if a page can't be read backward
 */
export function cursorsAround<Row>(
  { last, backward }: Pick<Start, 'backward'> & { readonly last?: unknown },
  shown: readonly Row[],
  more: boolean,
  to: { readonly after: (row: Row) => string; readonly before: (row: Row) => string | undefined },
): Around {
  const [first, end] = [shown[0], shown.at(-1)];
  // The page is empty: all matches are on the other side of its starting point.
  if (first === undefined || end === undefined)
    return backward === true && last !== undefined ? { next: '' } : {};
  const [next, previous] =
    backward === true
      ? [last === undefined ? undefined : to.after(first), more ? to.before(end) : undefined]
      : [more ? to.after(end) : undefined, last === undefined ? undefined : to.before(first)];
  return { ...(next === undefined ? {} : { next }), ...(previous === undefined ? {} : { previous }) };
}

/** Returns the cursor for the last page, which has the number of rows that remain after all full pages. */
export function lastPage(count: number, total: number | undefined, { next }: Around): { last?: string } {
  if (next === undefined || total === undefined) return {};
  return { last: encodeCursor(['end', total % count || count]) };
}

/** Returns true if an order is solely by `_lastUpdated`, which every write changes. */
export function isByTime(order: readonly OrderKey[]): boolean {
  return order.length === 1 && order[0]?.by === '_lastUpdated';
}

/** Returns true if every row has a value for every key of an order, so that the order can be read from its end. */
export function isTotal(order: readonly OrderKey[]): boolean {
  return order.every(isEverywhere);
}

/**
 * Returns true if the rows before a given row can be read in the reversed order. The row must have a value for the first key,
 * because rows without a value come last in either direction. The key must allow only one value per resource, because
 * otherwise a different value would count. Every row must have the other keys.
 */
export function isReversible(order: readonly OrderKey[], { keys }: Pick<Last, 'keys'>): boolean {
  const [first, ...others] = order;
  return (
    first !== undefined && keys[0] !== null && first.place?.single !== false && others.every(isEverywhere)
  );
}

/** Returns the order reversed, that is, from end to beginning. */
export function reversed(order: readonly OrderKey[]): readonly OrderKey[] {
  return order.map((key) => ({ ...key, descending: !key.descending }));
}

/**
 * Returns where a page begins.
 * @throws Refusal `malformed` for a cursor from a different search
 */
export function readStart(cursor: string | undefined, order: readonly OrderKey[]): Start {
  if (cursor === undefined) return {};
  const decoded = decodeCursor(cursor, start);
  if (decoded[0] === 'end') {
    if (isTotal(order)) return { backward: true, most: decoded[1] };
    throw otherSearch();
  }
  const isBefore = decoded[0] === 'before';
  const [made, id, ...keys] = decoded[0] === 'before' ? place.parse(decoded.slice(1)) : decoded;
  const fits =
    keys.length === order.length &&
    keys.every((key, n) => fitsKey(key, order[n])) &&
    (made !== null) === isByTime(order);
  if (!fits || (isBefore && !isReversible(order, { keys }))) throw otherSearch();
  return { last: { id, keys }, ...(made === null ? {} : { made }), ...(isBefore ? { backward: true } : {}) };
}

function otherSearch(): Error {
  return badParameter(CURSOR, 'the value is not a cursor of this search; start again without it');
}

/** Checks a key in a cursor; null is valid only for keys that a resource may lack. Every resource has an id and a time. */
function fitsKey(key: string | null, of: OrderKey | undefined): boolean {
  return key === null ? of !== undefined && !isEverywhere(of) : VALUES[of?.type ?? 'text'].test(key);
}

/** The valid forms of values in cursors. */
const VALUES: Readonly<Record<OrderKey['type'], RegExp>> = {
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  int8: /^-?\d{1,18}$|^-?[1-8]\d{18}$/,
  // Long enough for any number that is written in 1,000 characters, plus or minus half a unit in its last place.
  numeric: /^-?(?:\d{1,5000}(?:\.\d{1,5000})?|Infinity)$/,
  text: /^[^\0]{0,1000}$/su,
};
