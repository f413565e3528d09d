/** Returns a record's codes as labels for a page. */
import { type CodeSet, findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { capital } from '../pages/capital.ts';
import type { Texts } from '../pages/texts.ts';

/** Returns a code in words, as a label such as `Ruled out`; if there is no word for it, returns the code itself. */
export function codeLabel(say: Texts, set: CodeSet, code: string): string {
  return findLabel(say, set, code) ?? code;
}

/** Returns a code in words, as a label; undefined if there is no word for it. */
export function findLabel(say: Texts, set: CodeSet, code: string): string | undefined {
  const word = findCodeWord(say.lang, set, code);
  return word === undefined ? undefined : capital(say, word);
}
