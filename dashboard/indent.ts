/** Strings, the marks between values, and everything else of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Writes JSON over several lines. Its numbers and texts stay as they are: JSON.parse would lose digits.
 * @param text JSON; anything else is returned as it is
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

/** Parses JSON. Numbers become texts, so that they keep their digits. */
export function parseDigits(text: string): unknown {
  return JSON.parse(text.replace(TOKEN, (token) => (/^[-\d]/.test(token) ? `"${token}"` : token)));
}
