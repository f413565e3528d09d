/** Counts tokens the way models of the o200k family do. */

/** The tokenizer's name in answers: library, version and vocabulary. */
export const TOKENIZER = 'gpt-tokenizer 4.0.0 o200k_base';

/** Counts the tokens of a text. Control tokens in it are counted as plain text. */
export type CountTokens = (text: string) => number;

/** Size of the cache of words; the library's default is ten times larger. */
const REMEMBERED = 10_000;

let loading: Promise<CountTokens> | undefined;

/** Loads the tokenizer. Its vocabulary of some megabytes is loaded at the first call. */
export function loadTokenizer(): Promise<CountTokens> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens, setMergeCacheSize }) => {
    setMergeCacheSize(REMEMBERED);
    const options = { disallowedSpecial: new Set<string>() };
    return (text: string) => countTokens(text, options);
  });
  return loading;
}
