/** Measures how similar two words are by their shared groups of three letters, as PostgreSQL's pg_trgm does. */

/**
 * Returns a word's groups of three letters, each once. The word is padded with blanks, so that its beginning and end also form
 * groups.
 */
export function splitTrigrams(word: string): string[] {
  const letters = [...`  ${word} `];
  return [...new Set(letters.slice(2).map((_, at) => letters.slice(at, at + 3).join('')))];
}

/**
 * Returns the similarity, from 0 to 1: the number of groups that both words share, divided by the number of groups that occur
 * in at least one of them.
 */
export function similarity(common: number, ofOne: number, ofOther: number): number {
  return common / (ofOne + ofOther - common);
}
