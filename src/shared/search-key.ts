/** Hashes of searchable values: what an index over arrays of `int8` holds. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** Codes and categories come again with every resource; identifiers and references do not. */
const known = new LRUCache<string, string>({ max: 20_000 });
const LONGEST = 120;

/** The first 64 bits of a text's SHA-256, as the decimal text of a PostgreSQL `int8`. */
export function searchKey(text: string): string {
  const hit = known.get(text);
  if (hit !== undefined) return hit;
  const key = createHash('sha256').update(text).digest().readBigInt64BE().toString();
  if (text.length <= LONGEST) known.set(text, key);
  return key;
}
