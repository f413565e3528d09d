/** Finds the texts of a link about entries that it leaves out because an AI changed them (docs/shared-links.md). */
import { BEFORE_AI, LEFT_OUT_SYSTEM, REPLACED } from '../../../clinical/summary/changed-tag.ts';
import { unescaped } from '../../../clinical/summary/not-listed.ts';
import { clean, list, object, string } from './texts.js';

const findTag = ({ meta }, wanted = 'changed-by-ai') =>
  list(object(meta).tag)
    .map(object)
    .find(({ system, code }) => system === LEFT_OUT_SYSTEM && code === wanted);

/** Returns how many entries of somebody else a Bundle leaves out because an AI changed them. */
export function changedIn(bundle) {
  return Number.parseInt(string(findTag(bundle)?.display), 10) || 0;
}

/** Returns the entries of the Bundles, among some entries, that have versions before an AI changed them. */
export function earlierEntries(entries) {
  return entries
    .map(({ resource }) => object(resource))
    .filter((each) => each.resourceType === 'Bundle' && findTag(each) !== undefined)
    .flatMap(({ entry }) => list(entry).map(object));
}

/** The maximum number of versions of an entry that are looked at. */
const MOST_VERSIONS = 20;

/**
 * Returns the versions that current ones replaced, by `Type/id`, the newest first, each with when the next one was stored.
 * @param found the current versions by `Type/id`
 */
export function replacedVersions(entries, found) {
  const versions = entries
    .map(({ resource }) => object(resource))
    .filter((each) => each.resourceType === 'Bundle' && findTag(each, REPLACED) !== undefined)
    .flatMap(({ entry }) => list(entry).map((each) => object(object(each).resource)));
  const replaced = new Map();
  for (const value of versions) {
    const key = `${string(value.resourceType)}/${string(value.id)}`;
    if (replaced.get(key)?.push(value) === undefined) replaced.set(key, [value]);
  }
  const number = ({ meta }) => Number(string(object(meta).versionId)) || 0;
  return new Map(
    [...replaced].map(([key, all]) => {
      const own = all.sort((a, b) => number(b) - number(a)).slice(0, MOST_VERSIONS);
      const storedAt = (value) => string(object(object(value).meta).lastUpdated);
      return [
        key,
        own
          .map((value, n) => ({ value, until: storedAt(n === 0 ? found.get(key) : own[n - 1]) }))
          .filter(({ until }) => until !== ''),
      ];
    }),
  );
}

const PARAGRAPH = new RegExp(`<p>(${BEFORE_AI}[^<]*)</p>`, 'g');

/** Returns the texts in the narrative of a summary's section about entries before an AI changed them. */
export function earlierParagraphs({ text }) {
  const { div } = object(text);
  return [...(typeof div === 'string' ? div : '').matchAll(PARAGRAPH)].map(([, paragraph]) =>
    clean(unescaped(paragraph)),
  );
}
