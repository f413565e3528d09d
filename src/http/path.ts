/** Paths of URLs, taken apart. */
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Returns the decoded segments of a path; ignores one trailing slash.
 * @throws Refusal malformed (400) for invalid percent-encoding.
 */
export function segmentsOf(path: string): string[] {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  const bare = trimmed.startsWith('/') ? trimmed.slice(1) : trimmed;
  if (bare === '') return [];
  const segments = bare.split('/');
  return bare.includes('%') ? segments.map(decode) : segments;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new Refusal('malformed', { code: 'structure', diagnostics: 'the path has a bad percent-encoding' });
  }
}
