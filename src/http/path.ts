/** Paths of URLs, taken apart. */
import { requireDecodable } from '#src/shared/query-text.ts';

/**
 * Returns the decoded segments of a path; ignores one trailing slash.
 * @throws Refusal malformed (400) for invalid percent-encoding.
 */
export function segmentsOf(path: string): string[] {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  const bare = trimmed.startsWith('/') ? trimmed.slice(1) : trimmed;
  if (bare === '') return [];
  requireDecodable(bare, 'the path');
  const segments = bare.split('/');
  return bare.includes('%') ? segments.map(decodeURIComponent) : segments;
}
