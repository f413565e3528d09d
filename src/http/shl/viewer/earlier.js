/** Finds the texts of a link about entries that it leaves out because an AI changed them (docs/shared-links.md). */
import { BEFORE_AI, LEFT_OUT_SYSTEM } from '../../../clinical/summary/changed-tag.ts';
import { unescaped } from '../../../clinical/summary/not-listed.ts';
import { clean, list, object, string } from './texts.js';

const findTag = ({ meta }) =>
  list(object(meta).tag)
    .map(object)
    .find(({ system, code }) => system === LEFT_OUT_SYSTEM && code === 'changed-by-ai');

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

const PARAGRAPH = new RegExp(`<p>(${BEFORE_AI}[^<]*)</p>`, 'g');

/** Returns the texts in the narrative of a summary's section about entries before an AI changed them. */
export function earlierParagraphs({ text }) {
  const { div } = object(text);
  return [...(typeof div === 'string' ? div : '').matchAll(PARAGRAPH)].map(([, paragraph]) =>
    clean(unescaped(paragraph)),
  );
}
