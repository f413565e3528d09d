/** The form in which an index holds text, for projections and searches alike. */
import { createHash } from 'node:crypto';

/** The maximum length of text in an index row, which holds 2,704 bytes: tenant, type and system must fit as well. */
const LONGEST = 1_000;

/**
 * Returns text in the form that an index holds: unchanged, or if it is longer, `sha-256:` and the hex digest of its UTF-8
 * bytes.
 */
export function searchable(text: string): string {
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text;
  return `sha-256:${createHash('sha256').update(text).digest('hex')}`;
}
