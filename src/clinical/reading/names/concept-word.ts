/** Words of CodeableConcepts whose codes FHIR fixes. Also for scripts of a page: the data may be anything. Pure. */

import { listItems, readMembers, readText } from '../fields.ts';
import { type CodeSet, findCodeWord, findCodingWord, type WordLanguage } from './code-words.ts';

/** Sets whose concepts an author often words more exactly than their code does. */
const TEXT_FIRST: ReadonlySet<CodeSet> = new Set([
  'absent',
  'documentType',
  'noImmunization',
  'reportCategory',
  'severity',
  'subpotent',
]);

/**
 * Returns the word of the first coding of a concept that has one; undefined if none has, or if the author's own text says
 * more.
 * @param set the element's set; absent: the one of each coding's system
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
