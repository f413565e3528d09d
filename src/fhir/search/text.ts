/** Normalizes strings for searches: https://hl7.org/fhir/R4/search.html#string */

/** Accents, which are separate marks once a text is decomposed. */
const MARKS = /\p{M}/gu;

/** Matches texts without composed characters, which most are. */
const PLAIN = /^[ -~]*$/;

/**
 * Letters that Unicode doesn't decompose, in lower case, and what people type for them: ligatures, strokes, hooks and
 * bars as in CLDR's transform Latin-ASCII, and the Greek sigma at the end of a word.
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

/** Returns a text without case, accents and surplus blanks; letters such as ø and ß become what people type for them. */
export function folded(text: string): string {
  if (PLAIN.test(text)) return withoutBlanks(text.toLowerCase());
  const decomposed = text.normalize('NFKD').replace(MARKS, '').toLowerCase();
  return withoutBlanks(decomposed.replace(UNDECOMPOSED, (letter) => LETTERS.get(letter) ?? letter));
}

function withoutBlanks(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/**
 * Maximum length of the part of a folded text that an index stores, in UTF-16 code units: an index row has 2,704 bytes
 * at most.
 */
const INDEXED_LENGTH = 500;

/** A folded text in two parts: the beginning, which an index stores, and the rest of a longer text. */
export interface Pieces {
  readonly beginning: string;
  /** Null if the beginning is the whole text. */
  readonly rest: string | null;
}

/** Splits a text after `INDEXED_LENGTH`, never within a character. Equal texts have equal pieces. */
export function pieces(text: string): Pieces {
  if (text.length <= INDEXED_LENGTH) return { beginning: text, rest: null };
  const last = text.charCodeAt(INDEXED_LENGTH - 1);
  const end = last >= 0xd800 && last < 0xdc00 ? INDEXED_LENGTH - 1 : INDEXED_LENGTH;
  return { beginning: text.slice(0, end), rest: text.slice(end) };
}
