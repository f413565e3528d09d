/**
 * Normalizes strings for searches (https://hl7.org/fhir/R4/search.html#string), and keeps searches and orders from telling
 * the digits of an id.
 */
/** Accents, which are separate marks once a text is decomposed. */
const MARKS = /\p{M}/gu;

/** Matches texts without composed characters, which most are. */
const PLAIN = /^[ -~]*$/;

/**
 * Letters that Unicode doesn't decompose, in lower case, and their usual replacements: ligatures, strokes, hooks and
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

/** Returns a text without case, accents and extra blanks; letters such as ø and ß become their usual replacements. */
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
interface Pieces {
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

/**
 * A UUIDv7 at every place where one begins, so that ids that overlap are found too; also without the two digits that the
 * edge doesn't need (`src/shared/access/id-exchange.ts`).
 */
const ID = /(?=([0-9a-f]{6,8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}))/gi;
const SHORTEST = 34;

/**
 * Returns a text of the same length whose UUIDv7 have zeros for digits and letters. An application with a grant knows
 * another id of the patient, but its stored texts have the real one, and the owner's texts may have it: comparing texts
 * by their beginnings, parts or order would reveal its digits. All ids are masked, not only the patient's, because a
 * text that behaves unlike texts with other ids would confirm that it has the real one (docs/spec/decisions.md, section
 * 1).
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
 * Returns a changed text without ids if the change made some, such as by taking out a blank of no width: under a grant
 * ids were exchanged earlier, and a new one would be exchanged only in one direction.
 * @param before the text before the change, which breaks no id
 */
export function withoutNewIds(after: string, before: string): string {
  return countIds(after) === countIds(before) ? after : withoutIds(after);
}

function countIds(text: string): number {
  return text.length < SHORTEST ? 0 : [...text.matchAll(ID)].length;
}
