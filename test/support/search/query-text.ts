/** Queries as tests write them: nothing percent-encoded, `&` only between parameters. */

/** Returns the query as it goes into a URL. */
export function queryText(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      return `${encodeURIComponent(part.slice(0, at))}=${encodeURIComponent(part.slice(at + 1))}`;
    })
    .join('&');
}
