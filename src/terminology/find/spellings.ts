/** Other spellings of a word that a publisher may use in names, and words that say nothing about a code. */

/** British and other spellings → the spelling in LOINC and most American texts. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/[ao]e/g, 'e'],
  [/(?<=..)our/g, 'or'],
  [/(is)(?=e|ing|ation)/g, 'iz'],
  [/ys(?=e|ing)/g, 'yz'],
  [/sulph/g, 'sulf'],
  [/leuc/g, 'leuk'],
  [/tre$/, 'ter'],
  [/ogue/g, 'og'],
  [/amme$/, 'am'],
  [/ium$/, 'um'],
  [/ph/g, 'f'],
  [/lling/, 'ling'],
];

/** Maximum length, in letters, of words that are usually abbreviations and therefore have only one spelling. */
const SHORT = 3;

/** Words that LOINC abbreviates. */
const ABBREVIATED: Readonly<Record<string, string>> = {
  antibody: 'ab',
  antigen: 'ag',
  mri: 'mr',
  ultrasound: 'us',
  mammogram: 'mg',
  xray: 'xr',
};

/** Words that people often add to a test's name. */
const ADDED: ReadonlySet<string> = new Set(
  'level levels test tests testing value values result results measurement reading readings lab labs in of the for by'.split(
    ' ',
  ),
);

/**
 * Returns a word and its other spellings: the American spelling, the singular or plural, and LOINC's abbreviation. Many of
 * these don't exist; the caller keeps those that it knows.
 */
export function listSpellings(word: string): readonly string[] {
  const found = new Set([word]);
  if (word.length > SHORT)
    for (const [british, american] of SPELLINGS)
      for (const each of [...found]) found.add(each.replace(british, american));
  for (const each of [...found]) for (const other of inflect(each)) found.add(other);
  for (const each of [...found]) {
    const short = Object.hasOwn(ABBREVIATED, each) ? ABBREVIATED[each] : undefined;
    if (short !== undefined) found.add(short);
  }
  return [...found];
}

/** Yields possible singulars and plurals of a word. */
function* inflect(word: string): Generator<string> {
  if (word.length < SHORT) return;
  yield `${word}s`;
  if (word.endsWith('y')) yield `${word.slice(0, -1)}ies`;
  if (word.endsWith('us')) yield `${word.slice(0, -2)}i`;
  if (word.endsWith('um')) yield `${word.slice(0, -2)}a`;
  if (word.endsWith('ies')) yield `${word.slice(0, -3)}y`;
  if (word.endsWith('es')) yield word.slice(0, -2);
  if (word.endsWith('s')) yield word.slice(0, -1);
}

/** Returns the words that say something about a code; all words if none of them does. */
export function tellingWords(words: readonly string[]): readonly string[] {
  const telling = words.filter((word) => !ADDED.has(word));
  return telling.length === 0 ? words : telling;
}
