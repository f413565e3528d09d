/**
 * Returns a text in the form used for comparisons: words without case, accents and ASCII punctuation, separated by single
 * blanks.
 */
export function plainWords(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]+/g, '')
    .replace(/[\s!-/:-@[-`{-~]+/g, ' ')
    .trim();
}
