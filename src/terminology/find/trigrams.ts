/** How alike two words are: by the groups of three letters that they have in common, as PostgreSQL's pg_trgm counts them. */

/** A word's groups of three letters, each once; blanks stand before it and after it, so that its ends count. */
export function trigramsOf(word: string): string[] {
  const letters = [...`  ${word} `];
  return [...new Set(letters.slice(2).map((_, at) => letters.slice(at, at + 3).join('')))];
}

/** From 0 to 1: the groups that both have, of those that one of them has. */
export function similarity(common: number, ofOne: number, ofOther: number): number {
  return common / (ofOne + ofOther - common);
}
