/** Bundles, put together from texts that are already JSON: nothing is parsed or printed again. */
import { CURSOR } from '#queries/cursor.ts';

/** A link of a Bundle. */
export interface Link {
  readonly relation: 'self' | 'next';
  readonly url: string;
}

/**
 * The JSON text of a Bundle.
 * @param entries each the JSON text of an entry.
 */
export function bundleText(
  type: 'searchset' | 'history' | 'transaction-response' | 'batch-response',
  entries: readonly string[],
  options: { readonly total?: number; readonly links?: readonly Link[] } = {},
): string {
  const total = options.total === undefined ? '' : `,"total":${options.total}`;
  const link = options.links === undefined ? '' : `,"link":${JSON.stringify(options.links)}`;
  const entry = entries.length === 0 ? '' : `,"entry":[${entries.join(',')}]`;
  return `{"resourceType":"Bundle","type":"${type}"${total}${link}${entry}}`;
}

/**
 * The links of a page: `self`, and `next` where there is one.
 * @param query what of the request's query was used, without a cursor.
 */
export function pageLinks(path: string, query: URLSearchParams, next: string | undefined): Link[] {
  const self: Link = { relation: 'self', url: query.size === 0 ? path : `${path}?${query}` };
  if (next === undefined) return [self];
  const further = new URLSearchParams(query);
  further.append(CURSOR, next);
  return [self, { relation: 'next', url: `${path}?${further}` }];
}
