/** Phrases: words in which codes stand that have no name of their own, so that a reader can put names in. Pure. */
import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { concept } from '../clinical/reading/words.ts';
import { objects, text } from '../fhir/parts.ts';
import type { SystemCode } from '../fhir/terminology.ts';
import { ATC, ICD_10, LOINC } from './elements.ts';

/** A code in a text. */
export interface PlacedCode extends SystemCode {
  /** Where the code begins, in UTF-16 code units. */
  readonly offset: number;
}

/** A text, and the codes in it, in their order. */
export interface Phrase {
  readonly text: string;
  readonly codes: readonly PlacedCode[];
}

/** Code systems whose codes name something rather than a local code beside them. */
const PREFERRED: ReadonlySet<string> = new Set([LOINC, ATC, ICD_10]);

/** Most characters of a title or summary: an entry is one line of a list. */
const LONGEST = 300;
/** A text of more UTF-16 code units has more than `LONGEST` characters: a character has two at most. */
const LONGEST_UNITS = 2 * LONGEST;

/** Returns the code of a concept that has no words; undefined where it has some. */
export function bareCodeOf(concept: JsonObject): SystemCode | undefined {
  if (text(concept.text) !== undefined) return undefined;
  const all = objects(concept.coding);
  if (all.some(({ display }) => text(display) !== undefined)) return undefined;
  const named = all.flatMap(({ system: by, code }): SystemCode[] => {
    const [system, is] = [text(by), text(code)];
    return system === undefined || is === undefined ? [] : [{ system, code: is }];
  });
  return named.find(({ system }) => PREFERRED.has(system)) ?? named[0];
}

/** Returns what a CodeableConcept, or a list of them, says, as `joinPhrases` does; codes where it has no words. */
export function conceptPhrase(value: JsonObject[string] | undefined): Phrase | undefined {
  return joinPhrases(conceptsIn(value));
}

function* conceptsIn(value: JsonObject[string] | undefined): Iterable<string | Phrase | undefined> {
  for (const each of objects(value)) {
    const bare = bareCodeOf(each);
    yield bare === undefined ? concept(each) : { text: bare.code, codes: [{ ...bare, offset: 0 }] };
  }
}

/**
 * Joins what there is of some words; undefined when there is nothing. Stops when the text is longer than `cutLine` keeps: a
 * resource may have tens of thousands of parts.
 */
export function joinPhrases(
  parts: Iterable<string | Phrase | undefined>,
  separator = ', ',
): Phrase | undefined {
  let joined = '';
  const placed: PlacedCode[] = [];
  for (const part of parts) {
    const { text, codes } = typeof part === 'object' ? part : { text: part ?? '', codes: [] };
    if (text === '') continue;
    if (joined !== '') joined += separator;
    for (const code of codes) placed.push({ ...code, offset: joined.length + code.offset });
    joined += text;
    if (joined.length > LONGEST_UNITS) break;
  }
  return joined === '' ? undefined : { text: joined, codes: placed };
}

/** Returns the beginning of a text, of one line of a list at most. */
export function cutLine(said: string): string {
  // No text has more characters than code units.
  if (said.length <= LONGEST) return said;
  const characters = [...said.slice(0, LONGEST_UNITS + 1)];
  if (characters.length <= LONGEST) return said;
  const { length } = characters.slice(0, LONGEST - 1).join('');
  return `${cut(said, length)}…`;
}

/** Returns the beginning of a phrase, with the codes that are whole in it. */
export function cutPhrase({ text, codes }: Phrase): Phrase {
  const shown = cutLine(text);
  if (shown === text) return { text, codes };
  return { text: shown, codes: codes.filter(({ offset, code }) => offset + code.length < shown.length) };
}

/** Returns a phrase's text with names in the places of those codes that have one. */
export function withNames({ text, codes }: Phrase, nameOf: (code: SystemCode) => string | undefined): string {
  let named = '';
  let end = 0;
  for (const one of codes) {
    named += text.slice(end, one.offset) + (nameOf(one) ?? one.code);
    end = one.offset + one.code.length;
  }
  return cutLine(named + text.slice(end));
}
