/** Words coded elements: a code that FHIR fixes by its word, any other code by its name in the record. Pure. */
import { objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json-value.ts';
import { type CodeSet, findCodeWord, type WordLanguage } from './code-words.ts';
import { findConceptWord } from './concept-word.ts';
import { nameConcept } from './name.ts';

/** Returns a `code`, or the word of each of a list, in words; undefined if the element has none. */
export function nameCodes(lang: WordLanguage, set: CodeSet, value: Json | undefined): string | undefined {
  const all = Array.isArray(value) ? value : [value];
  const words = all.flatMap((each) => {
    const code = text(each);
    return code === undefined ? [] : [findCodeWord(lang, set, code) ?? code];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

/**
 * Returns CodeableConcepts in words: the word of the first code that has one, else the concept's name.
 * @param set the element's set; absent: the one of each coding's system
 */
export function nameCoded(lang: WordLanguage, value: Json | undefined, set?: CodeSet): string | undefined {
  const words = objects(value).flatMap((each) => findConceptWord(lang, each, set) ?? nameConcept(each) ?? []);
  return words.length === 0 ? undefined : words.join(', ');
}
