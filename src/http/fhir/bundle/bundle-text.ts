/** Builds Bundles from JSON texts, without parsing or printing them again. */
import { CURSOR } from '#queries/cursor.ts';
import type { GrantPass } from '../../grant/pass.ts';

/** A link of a Bundle. */
export interface Link {
  readonly relation: 'self' | keyof Pages;
  readonly url: string;
}

type BundleType = 'searchset' | 'history' | 'transaction-response' | 'batch-response';

/** The content of a Bundle apart from its entries. */
export interface BundleOptions {
  readonly total?: number;
  readonly links?: readonly Link[];
}

/**
 * Returns a Bundle's JSON text; a long text as UTF-8 bytes.
 * @param entries JSON texts of the entries
 */
export function bundleText(
  type: BundleType,
  entries: readonly (string | Buffer)[],
  options: BundleOptions = {},
): string | Buffer {
  const [before, after] = bundleFrame(type, entries.length, options);
  if (entries.length === 0) return before + after;
  if (!isShort(entries))
    return joined([before, ...entries.flatMap((entry, n) => (n === 0 ? [entry] : [',', entry])), after]);
  // The text is concatenated only once, because extending a long text would copy it again when it is sent.
  const framed = [...entries];
  framed[0] = before + framed[0];
  framed.push(framed.pop() + after);
  return framed.join(',');
}

/** The length, in characters, from which a Bundle is built outside the heap. */
const LONG = 500_000;

function isShort(entries: readonly (string | Buffer)[]): entries is readonly string[] {
  let length = 0;
  for (const entry of entries) {
    if (typeof entry !== 'string') return false;
    length += entry.length;
  }
  return length < LONG;
}

/** Returns the text before and after a Bundle's entries. */
export function bundleFrame(
  type: BundleType,
  entries: number,
  { total, links }: BundleOptions,
): [before: string, after: string] {
  const count = total === undefined ? '' : `,"total":${total}`;
  const link = links === undefined ? '' : `,"link":${JSON.stringify(links)}`;
  const before = `{"resourceType":"Bundle","type":"${type}"${count}${link}`;
  return entries === 0 ? [before, '}'] : [`${before},"entry":[`, ']}'];
}

/** Joins pieces of text into one, in UTF-8; long pieces are copied only once. */
export function joined(pieces: readonly (string | Buffer)[]): Buffer {
  const sizes = pieces.map((piece) => (typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length));
  const whole = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  for (const [n, piece] of pieces.entries()) {
    if (typeof piece === 'string') whole.write(piece, at);
    else piece.copy(whole, at);
    at += sizes[n] ?? 0;
  }
  return whole;
}

/** The cursors for other pages. */
export interface Pages {
  /** Empty for the first page. */
  readonly next?: string | undefined;
  readonly previous?: string | undefined;
  /** True if this isn't the first page, so that the page gets a link to it. The first page needs no cursor. */
  readonly first?: true;
  readonly last?: string | undefined;
}

/**
 * Returns the links on a page: `self`, and links to whichever other pages exist.
 * @param query the effective parameters, without a cursor
 */
export function pageLinks(path: string, query: URLSearchParams, pages: Pages): Link[] {
  const { next, previous, first, last } = pages;
  const self = query.size === 0 ? path : `${path}?${query}`;
  const at = (cursor: string): string =>
    cursor === '' ? self : `${self}${query.size === 0 ? '?' : '&'}${CURSOR}=${encodeURIComponent(cursor)}`;
  const links: Link[] = [{ relation: 'self', url: self }];
  if (next !== undefined) links.push({ relation: 'next', url: at(next) });
  if (previous !== undefined) links.push({ relation: 'previous', url: at(previous) });
  if (first === true) links.push({ relation: 'first', url: self });
  if (last !== undefined) links.push({ relation: 'last', url: at(last) });
  return links;
}

/** Returns the cursor for another page as the caller receives it: encrypted under a grant. */
export function shownCursor(pass: GrantPass | undefined, cursor: string | undefined): string | undefined {
  return pass === undefined || cursor === undefined ? cursor : pass.edge.cursor(cursor);
}
