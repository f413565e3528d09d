/** Caches the displays of codes, because most resources use the same few codes. */
import { LRUCache } from 'lru-cache';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Terminology } from './terminology.ts';

/** Maximum number of cached codes. */
const MOST = 10_000;
/** How long a display is cached, in ms. After this time, a name that `annal terminology load` has changed is shown. */
const KEPT_MS = 60_000;
/**
 * How long a code without a display isn't looked up again, in ms. The time is short, so that names that are loaded for the
 * code are soon shown.
 */
const MISSED_MS = 5_000;
/** The maximum length of a cached key; codes are much shorter. */
const LONGEST = 500;

/** Times, for tests. */
export interface RememberedTimes {
  readonly missedMs?: number;
}

/**
 * Wraps `Terminology.displays` with a cache: displays that are found are kept for a minute, and codes without a display for
 * five seconds. Without the cache, a record with codes from a system that isn't installed would cause a look-up of these codes
 * for each page of its lists.
 */
export function rememberDisplays(
  look: Terminology['displays'],
  { missedMs = MISSED_MS }: RememberedTimes = {},
): Terminology['displays'] {
  // A code without a display is stored with an empty text, which is never the name of a code.
  const known = new LRUCache<string, string>({ max: MOST, ttl: KEPT_MS });
  return async (codes) => {
    const found = new Map<string, string>();
    const missing = new Map<string, SystemCode>();
    for (const one of codes) {
      const key = `${one.system}|${one.code}`;
      const display = known.get(key);
      if (display === undefined) missing.set(key, one);
      else if (display !== '') found.set(key, display);
    }
    if (missing.size === 0) return found;
    const looked = await look([...missing.values()]);
    for (const key of missing.keys()) {
      const display = looked.get(key) ?? '';
      if (display !== '') found.set(key, display);
      if (key.length <= LONGEST) known.set(key, display, display === '' ? { ttl: missedMs } : {});
    }
    return found;
  };
}
