/** Counts tokens in the same way as models of the o200k family. */

/** The tokenizer's name in responses: library, version and vocabulary. */
export const TOKENIZER = 'gpt-tokenizer 4.0.0 o200k_base';

/** Counts a text's tokens. Control tokens in the text are counted as plain text. */
export type CountTokens = (text: string) => number;

/** The size of the cache for words; the library's default is ten times larger. */
const REMEMBERED = 10_000;

let loading: Promise<CountTokens> | undefined;

/** Loads the tokenizer. Its vocabulary, which takes up several megabytes, is loaded at the first call. */
export function loadTokenizer(): Promise<CountTokens> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens, setMergeCacheSize }) => {
    setMergeCacheSize(REMEMBERED);
    const options = { disallowedSpecial: new Set<string>() };
    return (text: string) => countTokens(text, options);
  });
  return loading;
}
