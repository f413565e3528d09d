/** Searches guides and operations for whole words, beginnings of words, and words that differ by one letter. */
import { setImmediate } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import { allGuides, type Guide } from './guides.ts';
import { splitSections } from './markdown.ts';
import type { ListedOperation } from './reference.ts';

/** A part of the documentation found by a search. */
export interface Found {
  /** Path below `/docs`, with its fragment. */
  readonly path: string;
  readonly title: string;
  /** The page that contains the part. */
  readonly within: string;
  readonly text: string;
}

/** Maximum number of results. */
const MOST = 30;

/** Maximum number of search words that are used, and their maximum length: each of them is compared with all indexed words. */
const MOST_WORDS = 8;
const LONGEST = 40;

/** Number of characters shown from a result's text. */
const EXCERPT = 180;

/** Finds parts of the documentation. */
export interface DocumentationSearch {
  /** Returns the best results, all of which contain every word. */
  find(asked: string): readonly Found[];
}

/** Reads all guides into an index. This takes half a second, so other requests are processed in between. */
export async function openSearch(operations: readonly ListedOperation[]): Promise<DocumentationSearch> {
  const parts = operations.map(operationPart);
  for (const guide of allGuides().values()) {
    parts.push(...guideParts(guide));
    await setImmediate();
  }
  const index = new MiniSearch<Found & { readonly id: number }>({
    fields: ['title', 'within', 'text'],
    searchOptions: {
      boost: { title: 3, within: 1.5 },
      prefix: (word) => word.length > 2,
      fuzzy: (word) => (word.length > 3 ? 0.15 : false),
      combineWith: 'AND',
    },
  });
  await index.addAllAsync(
    parts.map((part, id) => ({ ...part, id })),
    { chunkSize: 50 },
  );
  return {
    find: (asked) =>
      index
        .search(splitWords(asked).join(' '))
        .slice(0, MOST)
        .flatMap(({ id }) => parts[Number(id)] ?? []),
  };
}

function splitWords(asked: string): readonly string[] {
  return asked
    .toLowerCase()
    .split(/[^\p{L}\p{N}$_]+/u)
    .filter((word) => word !== '')
    .slice(0, MOST_WORDS)
    .map((word) => word.slice(0, LONGEST));
}

/**
 * Decisions and the specification are left out: they are for people who change the service, and these people read them instead
 * of searching.
 */
function guideParts({ name, title, markdown }: Guide): Found[] {
  if (name === '' || name.includes('/')) return [];
  return splitSections(markdown)
    .filter(({ heading, text }) => heading !== null || text.trim() !== '')
    .map(({ heading, text }) => ({
      path: `/guides/${name}${heading === null || heading.depth === 1 ? '' : `#${heading.anchor}`}`,
      title: heading?.text ?? title,
      within: title,
      text,
    }));
}

function operationPart({ operationId, method, path, summary, description, tag }: ListedOperation): Found {
  return {
    path: `/operations/${operationId}`,
    title: summary,
    within: tag,
    text: `${method} ${path}\n${description.replaceAll('`', '')}`,
  };
}

/** Returns an excerpt of a text, `EXCERPT` characters long, around the first search word. */
export function makeExcerpt(text: string, asked: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  const lower = flat.toLowerCase();
  const places = splitWords(asked)
    .map((word) => lower.indexOf(word))
    .filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...(places.length === 0 ? [0] : places)) - 60);
  const start = from === 0 ? 0 : flat.indexOf(' ', from) + 1;
  const end = flat.length <= start + EXCERPT ? flat.length : flat.lastIndexOf(' ', start + EXCERPT);
  return `${start === 0 ? '' : '… '}${flat.slice(start, end)}${end < flat.length ? ' …' : ''}`;
}
