/** The texts that a language of the pages must have. */
import type { en } from './en.ts';

/** The key of a text. */
export type TextKey = keyof typeof en;

/** All texts of a language; the compiler finds a missing one, and a test a placeholder that differs. */
export type Wording = { readonly [K in TextKey]: string };
