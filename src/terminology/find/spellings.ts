/** Spellings of a word by which a publisher's name may have it, and words that say nothing about a code. */

/** British and other spellings → the one of LOINC and most American texts. */
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

/** Letters of words that are mostly abbreviations, which have one spelling. */
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

/** Words that people add to the name of a test. */
const ADDED: ReadonlySet<string> = new Set(
  'level levels test tests testing value values result results measurement reading readings lab labs in of the for by'.split(
    ' ',
  ),
);

/**
 * Returns a word with its other spellings: American for British ones, singular for plural and plural for singular, and
 * LOINC's abbreviation. Most don't exist; the caller keeps those that it knows.
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

/** Returns a word's singulars and plurals. */
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

/** Returns the words without those that say nothing about a code; all of them if none would be left. */
export function tellingWords(words: readonly string[]): readonly string[] {
  const telling = words.filter((word) => !ADDED.has(word));
  return telling.length === 0 ? words : telling;
}
