/** Texts as people compare them: words without case, accents and ASCII's punctuation, with single blanks between. */
export function plainWords(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]+/g, '')
    .replace(/[\s!-/:-@[-`{-~]+/g, ' ')
    .trim();
}
