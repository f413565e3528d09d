/**
 * Caches pages of instance histories. Versions never change, so a page is valid until there is a newer version. Whether there
 * is one is checked first.
 */
import { LRUCache } from 'lru-cache';

const MAX_BYTES = 16_000_000;
/** Maximum size of a cached page: a larger page would evict too many others. */
const MAX_PAGE_BYTES = 1_000_000;
/** How long a page is cached, in ms; this also limits how long a purged record's page stays. */
const KEPT_MS = 30_000;

/** Pages by owner, resource, newest version and parameters. */
export class HistoryPages {
  readonly #pages = new LRUCache<string, Buffer>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_PAGE_BYTES,
    sizeCalculation: (page) => page.length + 1_000,
    ttl: KEPT_MS,
    ttlAutopurge: true,
  });

  /** Returns the page for a key. The key includes the newest version. Builds the page if it isn't cached. */
  async get(key: string, build: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = await build();
    this.#pages.set(key, page);
    return page;
  }
}
