/** The code words that each language must have. */
import type { en } from './en.ts';

/** The key of a word. */
export type CodeTextKey = keyof typeof en;

/** All words in a language; the compiler reports a missing one. */
export type CodeTexts = { readonly [K in CodeTextKey]: string };
