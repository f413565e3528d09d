/** Phrases: texts that contain codes without a name of their own, so that names can be inserted when a phrase is read. Pure. */
import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { codesToName, labelCode, nameConcept } from '../clinical/reading/names/name.ts';
import { objects } from '../fhir/parts.ts';
import type { SystemCode } from '../fhir/terminology.ts';

/** A code in a text. */
export interface PlacedCode extends SystemCode {
  /** Where the code begins, in UTF-16 code units. */
  readonly offset: number;
}

/** A text, and the codes in it, in the order of their positions. */
export interface Phrase {
  readonly text: string;
  readonly codes: readonly PlacedCode[];
}

/** The maximum length of a title or summary, in characters, because an entry is one line in a list. */
const LONGEST = 300;
/**
 * A text with more UTF-16 code units than this certainly has more than `LONGEST` characters, because a character has at most
 * two code units.
 */
const LONGEST_UNITS = 2 * LONGEST;

/** Returns the words in a CodeableConcept, or in a list of them, joined by `joinPhrases`; codes if there are no words. */
export function conceptPhrase(value: JsonObject[string] | undefined): Phrase | undefined {
  return value === undefined ? undefined : joinPhrases(conceptsIn(value));
}

function* conceptsIn(value: JsonObject[string] | undefined): Iterable<string | Phrase | undefined> {
  for (const each of objects(value)) {
    const [bare] = codesToName(each);
    yield bare === undefined ? nameConcept(each) : { text: bare.code, codes: [{ ...bare, offset: 0 }] };
  }
}

/**
 * Joins the parts that are present; undefined if there are none. Stops when the text is longer than `cutLine` allows, because
 * a resource may have tens of thousands of parts.
 */
export function joinPhrases(
  parts: Iterable<string | Phrase | undefined>,
  separator = ', ',
): Phrase | undefined {
  let joined = '';
  const placed: PlacedCode[] = [];
  for (const part of parts) {
    const text = typeof part === 'object' ? part.text : (part ?? '');
    if (text === '') continue;
    if (joined !== '') joined += separator;
    if (typeof part === 'object')
      for (const code of part.codes) placed.push({ ...code, offset: joined.length + code.offset });
    joined += text;
    if (joined.length > LONGEST_UNITS) break;
  }
  return joined === '' ? undefined : { text: joined, codes: placed };
}

/** Returns the beginning of a text, which is at most one line in a list. */
export function cutLine(said: string): string {
  // A text never has more characters than code units.
  if (said.length <= LONGEST) return said;
  const characters = [...said.slice(0, LONGEST_UNITS + 1)];
  if (characters.length <= LONGEST) return said;
  const { length } = characters.slice(0, LONGEST - 1).join('');
  return `${cut(said, length)}…`;
}

/** Returns the beginning of a phrase, with the codes that are complete within it. */
export function cutPhrase({ text, codes }: Phrase): Phrase {
  const shown = cutLine(text);
  if (shown === text) return { text, codes };
  return { text: shown, codes: codes.filter(({ offset, code }) => offset + code.length < shown.length) };
}

/**
 * Returns a phrase's text, in which codes are replaced by names; for a code without a name, its system's short name is added.
 */
export function withNames(
  { text, codes }: Phrase,
  nameCode: (code: SystemCode) => string | undefined,
): string {
  let named = '';
  let end = 0;
  for (const one of codes) {
    named += text.slice(end, one.offset) + (nameCode(one) ?? labelCode(one));
    end = one.offset + one.code.length;
  }
  return cutLine(named + text.slice(end));
}
