/**
 * Writes coded elements in words: a code that FHIR defines is written as its word, any other code as its name in the record.
 * Pure.
 */
import { objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json-value.ts';
import { type CodeSet, findCodeWord, type WordLanguage } from './code-words.ts';
import { findConceptWord } from './concept-word.ts';
import { nameConcept } from './name.ts';

/** Returns a `code`, or each code in a list, in words; undefined if there is none. */
export function nameCodes(lang: WordLanguage, set: CodeSet, value: Json | undefined): string | undefined {
  const all = Array.isArray(value) ? value : [value];
  const words = all.flatMap((each) => {
    const code = text(each);
    return code === undefined ? [] : [findCodeWord(lang, set, code) ?? code];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

/**
 * Returns CodeableConcepts in words: the word for the first code that has one, otherwise the concept's name.
 * @param set the element's set; if absent, the set of each coding's system
 */
export function nameCoded(lang: WordLanguage, value: Json | undefined, set?: CodeSet): string | undefined {
  const words = objects(value).flatMap((each) => findConceptWord(lang, each, set) ?? nameConcept(each) ?? []);
  return words.length === 0 ? undefined : words.join(', ');
}
