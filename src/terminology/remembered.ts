/** Caches displays of codes, since most resources use the same few codes. */
import { LRUCache } from 'lru-cache';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Terminology } from './terminology.ts';

/** Maximum number of cached displays. */
const MOST = 10_000;
/** Time in ms that a display is cached: a name changed by `annal terminology load` is shown after that. */
const KEPT_MS = 60_000;

/** Wraps `Terminology.displays` with a cache: found displays are kept for a minute; others are looked up every time. */
export function rememberDisplays(look: Terminology['displays']): Terminology['displays'] {
  const known = new LRUCache<string, string>({ max: MOST, ttl: KEPT_MS });
  return async (codes) => {
    const found = new Map<string, string>();
    const missing: SystemCode[] = [];
    for (const one of codes) {
      const key = `${one.system}|${one.code}`;
      const display = known.get(key);
      if (display === undefined) missing.push(one);
      else found.set(key, display);
    }
    for (const [key, display] of await look(missing)) {
      known.set(key, display);
      found.set(key, display);
    }
    return found;
  };
}
