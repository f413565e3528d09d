/** Capitalizes the beginnings of sentences. */
import type { Texts } from './texts.ts';

/** Returns text with its first letter capitalized, in scripts that have capital letters. */
export function capital(say: Pick<Texts, 'lang'>, text: string): string {
  const [first = '', ...rest] = text;
  return first.toLocaleUpperCase(say.lang) + rest.join('');
}
