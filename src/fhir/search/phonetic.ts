/** Encodes how names sound, with Lawrence Philips' Double Metaphone, for the search parameter `phonetic`. */
import { doubleMetaphone } from 'double-metaphone';
import { folded, withoutIds } from './text.ts';

const BETWEEN_WORDS = /[^\p{L}\p{N}]+/u;

/** Maximum number of words in a text that are compared; later words are ignored. */
const MOST_WORDS = 50;

/**
 * Returns how each word in a text sounds, as one or two codes per word. A word with letters that the algorithm doesn't know,
 * such as Cyrillic, is represented by its spelling, ignoring case and accents. Ids are masked, because otherwise their parts
 * would be treated as words.
 */
export function listSounds(text: string): readonly (readonly string[])[] {
  const words = withoutIds(folded(text))
    .split(BETWEEN_WORDS)
    .filter((word) => word !== '');
  return words.slice(0, MOST_WORDS).map(soundsOfWord);
}

function soundsOfWord(word: string): readonly string[] {
  const codes = [...new Set(doubleMetaphone(word))].filter((code) => code !== '');
  return codes.length === 0 ? [word] : codes;
}
