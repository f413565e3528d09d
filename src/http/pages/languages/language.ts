/** Defines which texts every language of the pages must provide. */
import type { en } from './en.ts';

/** The key of a text. */
export type TextKey = keyof typeof en;

/**
 * All texts in a language. The compiler detects missing texts, and a test detects placeholders that differ between languages.
 */
export type Wording = { readonly [K in TextKey]: string };
