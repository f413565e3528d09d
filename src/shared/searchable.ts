/** Texts that an index holds: projections write them in this form, and searches ask for it. */
import { createHash } from 'node:crypto';

/** An index row holds 2,704 bytes at most: tenant, type, value and system must fit. */
const LONGEST = 1_000;

/**
 * The form in which a text stands in an index: itself, or for one too long for an index row `sha-256:` and the hex
 * digest of its UTF-8 bytes.
 */
export function searchable(text: string): string {
  if (text.length * 3 <= LONGEST || Buffer.byteLength(text) <= LONGEST) return text;
  return `sha-256:${createHash('sha256').update(text).digest('hex')}`;
}
