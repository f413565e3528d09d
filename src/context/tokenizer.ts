/** Tokens of a text, as models of the o200k family count them. */

/** Its name, as answers bear it: library, version and vocabulary. */
export const TOKENIZER = 'gpt-tokenizer 4.0.0 o200k_base';

/** Counts the tokens of a text. What looks like a control token is counted as the text that it is. */
export type CountTokens = (text: string) => number;

/** How many words it remembers the tokens of; by itself it would be ten times as many. */
const REMEMBERED = 10_000;

let loading: Promise<CountTokens> | undefined;

/** The tokenizer; its vocabulary of some megabytes is loaded when it is first asked for. */
export function loadTokenizer(): Promise<CountTokens> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens, setMergeCacheSize }) => {
    setMergeCacheSize(REMEMBERED);
    const options = { disallowedSpecial: new Set<string>() };
    return (text: string) => countTokens(text, options);
  });
  return loading;
}
