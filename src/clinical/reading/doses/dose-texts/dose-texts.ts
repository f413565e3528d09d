/** The texts that a language of doses must have. */
import type { en } from './en.ts';

/** The key of a word. */
export type DoseTextKey = keyof typeof en;

/** All words of a language; the compiler finds a missing one. */
export type DoseTexts = { readonly [K in DoseTextKey]: string };
