/** Defines the texts that every language of the pages must have. */
import type { en } from './en.ts';

/** The key of a text. */
export type TextKey = keyof typeof en;

/** All texts in a language; the compiler detects missing texts, and a test detects placeholders that differ. */
export type Wording = { readonly [K in TextKey]: string };
