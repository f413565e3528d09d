/**
 * Normalizes strings for searches (https://hl7.org/fhir/R4/search.html#string), and keeps searches and sort orders from
 * revealing the digits of an id.
 */
/** Accents, which become separate marks when text is decomposed. */
const MARKS = /\p{M}/gu;

/** Matches text without composed characters, which is the usual case. */
const PLAIN = /^[ -~]*$/;

/**
 * Letters that Unicode doesn't decompose, in lower case, with their usual replacements: ligatures, strokes, hooks and bars as
 * in CLDR's Latin-ASCII transform, and the Greek sigma at the end of a word.
 */
const LETTERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ae: 'æ',
    b: 'ƀɓƃ',
    c: 'ȼƈ',
    d: 'đðɖɗƌ',
    e: 'ɇǝəɛ',
    f: 'ƒ',
    g: 'ǥɠɣ',
    h: 'ħⱨ',
    i: 'ıɨ',
    j: 'ɉȷ',
    k: 'ĸƙⱪ',
    l: 'łƚɫⱡ',
    n: 'ŋɲƞ',
    o: 'øɵɔ',
    oe: 'œ',
    p: 'ƥᵽ',
    q: 'ɋʠ',
    r: 'ɍɽ',
    s: 'ȿʂ',
    ss: 'ß',
    t: 'ŧƫƭʈⱦ',
    th: 'þ',
    u: 'ʉ',
    v: 'ʋ',
    y: 'ɏƴ',
    z: 'ƶȥⱬ',
    a: 'ⱥ',
    w: 'ⱳ',
    σ: 'ς',
  }).flatMap(([typed, letters]) => [...letters].map((letter): [string, string] => [letter, typed])),
);
const UNDECOMPOSED = new RegExp(`[${[...LETTERS.keys()].join('')}]`, 'gu');

/**
 * Returns text in lower case, without accents or extra blanks; letters such as ø and ß are replaced by their usual
 * equivalents.
 */
export function folded(text: string): string {
  if (PLAIN.test(text)) return withoutBlanks(text.toLowerCase());
  const decomposed = text.normalize('NFKD').replace(MARKS, '').toLowerCase();
  return withoutBlanks(decomposed.replace(UNDECOMPOSED, (letter) => LETTERS.get(letter) ?? letter));
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * Maximum length of the part of folded text that an index stores, in UTF-16 code units: an index row is limited to 2,704
 * bytes.
 */
const INDEXED_LENGTH = 500;

/** Folded text in two parts: the beginning, which an index stores, and the rest, if the text is longer than that. */
interface Pieces {
  readonly beginning: string;
  /** Null if the beginning is the whole text. */
  readonly rest: string | null;
}

/** Splits text after `INDEXED_LENGTH`, but never within a character. Equal text yields equal pieces. */
export function pieces(text: string): Pieces {
  if (text.length <= INDEXED_LENGTH) return { beginning: text, rest: null };
  const last = text.charCodeAt(INDEXED_LENGTH - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? INDEXED_LENGTH - 1 : INDEXED_LENGTH;
  return { beginning: text.slice(0, end), rest: text.slice(end) };
}

/**
 * Matches a UUIDv7 at every position where one begins, so that overlapping ids are found too. It also matches a UUIDv7 without
 * its first two digits, because the id exchange doesn't need those digits (`src/shared/access/id-exchange.ts`).
 */
const ID = /(?=([0-9a-f]{6,8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}))/gi;
const SHORTEST = 34;

/**
 * Returns text of the same length in which the digits and letters of every UUIDv7 are zeros. An application with a grant knows
 * the patient by a different id, but the real id is in the stored text of the application's data, and may be in text that the
 * owner wrote. Comparing text by its beginning, its parts or its order would then reveal the digits of the real id. All ids
 * are masked, not only the patient's: otherwise, text with the real id would behave differently from text with other ids,
 * which would confirm that it contains the real id (docs/spec/decisions.md, section 1).
 */
export function withoutIds(text: string): string {
  if (text.length < SHORTEST || !text.includes('-7')) return text;
  let result = '';
  let done = 0;
  for (const { index, 1: id = '' } of text.matchAll(ID)) {
    const from = Math.max(index, done);
    const end = index + id.length;
    result += text.slice(done, from) + text.slice(from, end).replace(/[^-]/g, '0');
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

/**
 * Masks the ids in changed text if the change created any, for example by removing a zero-width space. Under a grant, ids are
 * exchanged before the change, so an id that the change creates would be exchanged in one direction only.
 * @param before the text before the change, which never breaks up an id
 */
export function withoutNewIds(after: string, before: string): string {
  return countIds(after) === countIds(before) ? after : withoutIds(after);
}

function countIds(text: string): number {
  return text.length < SHORTEST ? 0 : [...text.matchAll(ID)].length;
}
