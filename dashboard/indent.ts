/** Matches JSON strings, the punctuation between values, and everything else. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Formats JSON over several lines. Numbers and strings stay unchanged, whereas JSON.parse would lose digits.
 * @param text JSON; anything else is returned unchanged
 */
export function indent(text: string): string {
  if (!/^\s*[{[]/.test(text)) return text;
  let depth = 0;
  let result = '';
  let before = '';
  const newLine = (): string => `\n${'  '.repeat(depth)}`;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      if (before !== '{' && before !== '[') result += newLine();
    } else if (before === '{' || before === '[' || before === ',') result += newLine();
    else if (before === ':') result += ' ';
    if (token === '{' || token === '[') depth += 1;
    result += token;
    before = token;
  }
  return result;
}

/** A JSON value whose numbers are strings. */
export type WithDigits<T> = T extends number
  ? string
  : T extends object
    ? { readonly [K in keyof T]: WithDigits<T[K]> }
    : T;

/** Parses JSON. Numbers become strings, so they keep their digits. */
export function parseDigits<T = unknown>(text: string): WithDigits<T> {
  return JSON.parse(text.replace(TOKEN, (token) => (/^[-\d]/.test(token) ? `"${token}"` : token)));
}
