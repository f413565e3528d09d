/** Displays of codes that were looked up a moment ago: most of what is written has the same few codes. */
import { LRUCache } from 'lru-cache';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Terminology } from './terminology.ts';

/** How many displays are remembered. */
const MOST = 10_000;
/** How long, in ms: what `annal terminology load` renames is shown under its new name after that. */
const KEPT_MS = 60_000;

/** Wraps `Terminology.displays`: those that were found are remembered for a minute, the others are looked up again. */
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
