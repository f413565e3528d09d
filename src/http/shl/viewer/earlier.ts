/** Finds a link's texts about entries that it leaves out because an AI changed them (docs/shared-links.md). */
import type { Replaced } from '#src/clinical/reading/told.ts';
import { BEFORE_AI, LEFT_OUT_SYSTEM, REPLACED } from '#src/clinical/summary/changed-tag.ts';
import { unescaped } from '#src/clinical/summary/not-listed.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { clean, object, objectsIn, string } from './texts.ts';

const findTag = ({ meta }: JsonObject, wanted = 'changed-by-ai'): JsonObject | undefined =>
  objectsIn(object(meta).tag).find(({ system, code }) => system === LEFT_OUT_SYSTEM && code === wanted);

/** Returns how many entries by other authors a Bundle leaves out because an AI changed them. */
export function changedIn(bundle: JsonObject): number {
  return Number.parseInt(string(findTag(bundle)?.display), 10) || 0;
}

/** Returns, from the given entries' Bundles, the entries that contain versions from before an AI changed them. */
export function earlierEntries(entries: readonly JsonObject[]): JsonObject[] {
  return entries
    .map(({ resource }) => object(resource))
    .filter((each) => each.resourceType === 'Bundle' && findTag(each) !== undefined)
    .flatMap(({ entry }) => objectsIn(entry));
}

/** Maximum number of an entry's versions that are read. */
const MOST_VERSIONS = 20;

/**
 * Returns the versions that were replaced by current versions, by `Type/id`, newest first, each with the time when the next
 * version was stored.
 * @param found the current versions by `Type/id`
 */
export function replacedVersions(
  entries: readonly JsonObject[],
  found: ReadonlyMap<string, JsonObject>,
): Map<string, readonly Replaced[]> {
  const versions = entries
    .map(({ resource }) => object(resource))
    .filter((each) => each.resourceType === 'Bundle' && findTag(each, REPLACED) !== undefined)
    .flatMap(({ entry }) => objectsIn(entry).map((each) => object(each.resource)));
  const replaced = new Map<string, JsonObject[]>();
  for (const value of versions) {
    const key = `${string(value.resourceType)}/${string(value.id)}`;
    if (replaced.get(key)?.push(value) === undefined) replaced.set(key, [value]);
  }
  const number = ({ meta }: JsonObject): number => Number(string(object(meta).versionId)) || 0;
  return new Map(
    [...replaced].map(([key, all]) => {
      const own = all.sort((a, b) => number(b) - number(a)).slice(0, MOST_VERSIONS);
      const storedAt = (value: JsonObject | undefined): string => string(object(value?.meta).lastUpdated);
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

/** Returns the texts that say what entries stated before an AI changed them, from the narrative of a summary's section. */
export function earlierParagraphs({ text }: JsonObject): string[] {
  const { div } = object(text);
  return [...(typeof div === 'string' ? div : '').matchAll(PARAGRAPH)].map(([, paragraph = '']) =>
    clean(unescaped(paragraph)),
  );
}
