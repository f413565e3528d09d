/** Encodes queries as tests write them: nothing is percent-encoded, and `&` occurs only between parameters. */

/** Returns the query as it appears in a URL. */
export function queryText(query: string): string {
  return query
    .split('&')
    .map((part) => {
      const at = part.indexOf('=');
      return `${encodeURIComponent(part.slice(0, at))}=${encodeURIComponent(part.slice(at + 1))}`;
    })
    .join('&');
}
