/** How names sound, by Lawrence Philips' Double Metaphone: what the search parameter `phonetic` compares. */
import { doubleMetaphone } from 'double-metaphone';
import { folded } from './text.ts';

const BETWEEN_WORDS = /[^\p{L}\p{N}]+/u;

/** How many words of a text are compared: those after them count for nothing. */
const MOST_WORDS = 50;

/**
 * Returns how each word of a text sounds: one or two codes a word. A word of letters that the algorithm doesn't know, such as
 * Cyrillic ones, sounds as it's written, without case and accents.
 */
export function soundsOf(text: string): readonly (readonly string[])[] {
  const words = folded(text)
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '');
  return words.slice(0, MOST_WORDS).map(soundsOfWord);
}

function soundsOfWord(word: string): readonly string[] {
  const codes = [...new Set(doubleMetaphone(word))].filter((code) => code !== '');
  return codes.length === 0 ? [word] : codes;
}
