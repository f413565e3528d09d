/** The form in which an index stores text, used by both projections and searches. */
import { createHash } from 'node:crypto';

/**
 * The maximum length of text in an index row. The row can hold 2,704 bytes, and the tenant, type and system must fit as well.
 */
const LONGEST = 1_000;

/**
 * Returns text in the form that an index stores: unchanged or, if it is too long, `sha-256:` and the hex digest of its UTF-8
 * bytes.
 */
export function searchable(text: string): string {
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text;
  return `sha-256:${createHash('sha256').update(text).digest('hex')}`;
}
