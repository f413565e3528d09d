/** The texts that a language of code words must have. */
import type { en } from './en.ts';

/** The key of a word. */
export type CodeTextKey = keyof typeof en;

/** All words of a language; the compiler finds a missing one. */
export type CodeTexts = { readonly [K in CodeTextKey]: string };
