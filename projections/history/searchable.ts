/** The form of texts in an index, used by projections and searches alike. */
import { createHash } from 'node:crypto';

/** The maximum length of a text in an index row, which holds 2,704 bytes: tenant, type and system must fit as well. */
const LONGEST = 1_000;

/**
 * Returns a text as an index holds it: itself, or for a longer one `sha-256:` and the hex digest of its UTF-8 bytes.
 */
export function searchable(text: string): string {
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text;
  return `sha-256:${createHash('sha256').update(text).digest('hex')}`;
}
