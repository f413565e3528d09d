/**
 * Histories of instances as they were answered last. A version never changes, so a page is right for as long as no
 * further version has come: whoever asks looks that up first, and builds the page only if it is another one.
 */
import { LRUCache } from 'lru-cache';

const MAX_BYTES = 16_000_000;
/** A page larger than this would drive out too many others. */
const MAX_PAGE_BYTES = 1_000_000;
/** How long a page is kept, in ms: not much longer than its record, should that be purged. */
const KEPT_MS = 30_000;

/** Pages by whose they are, of what, up to which version, and how they were asked for. */
export class HistoryPages {
  readonly #pages = new LRUCache<string, Buffer>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_PAGE_BYTES,
    sizeCalculation: (page) => page.length + 1_000,
    ttl: KEPT_MS,
    ttlAutopurge: true,
  });

  /** The page of a key that names the newest version in it; built when it is not there. */
  async get(key: string, build: () => Promise<Buffer>): Promise<Buffer> {
    const known = this.#pages.get(key);
    if (known !== undefined) return known;
    const page = await build();
    this.#pages.set(key, page);
    return page;
  }
}
