/**
 * Finds words for CodeableConcepts whose codes FHIR defines. Also used in the scripts of pages, so the data may have any form.
 * Pure.
 */

import { listItems, readMembers, readText } from '../fields.ts';
import { type CodeSet, findCodeWord, findCodingWord, type WordLanguage } from './code-words.ts';

/** Sets in which the author's text often describes a concept more exactly than the code does. */
const TEXT_FIRST: ReadonlySet<CodeSet> = new Set([
  'absent',
  'documentType',
  'noImmunization',
  'reportCategory',
  'severity',
  'subpotent',
]);

/**
 * Returns the word for the first coding in a concept that has a word; undefined if no coding has one, or if the author's own
 * text says more.
 * @param set the element's set; if absent, the set of each coding's system
 */
export function findConceptWord(lang: WordLanguage, concept: unknown, set?: CodeSet): string | undefined {
  const { coding, text } = readMembers(concept);
  if (readText(text) !== undefined && (set === undefined || TEXT_FIRST.has(set))) return undefined;
  for (const { system, code } of listItems(coding).map(readMembers)) {
    const is = readText(code) ?? '';
    const word =
      set === undefined ? findCodingWord(lang, readText(system) ?? '', is) : findCodeWord(lang, set, is);
    if (word !== undefined) return word;
  }
  return undefined;
}
