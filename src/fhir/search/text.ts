/** Strings as a search compares them: https://hl7.org/fhir/R4/search.html#string */

/** Marks that accents are once a text is decomposed. */
const MARKS = /\p{M}/gu;

/** Most texts: nothing in them is composed. */
const PLAIN = /^[ -~]*$/;

/** A text without case, accents and surplus blanks. */
export function folded(text: string): string {
  const decomposed = PLAIN.test(text) ? text : text.normalize('NFKD').replace(MARKS, '');
  return decomposed.toLowerCase().replace(/\s+/g, ' ').trim();
}

/** Longest beginning of a folded text that is kept for comparison, in characters: an index row must hold it. */
export const FOLDED_LENGTH = 500;
