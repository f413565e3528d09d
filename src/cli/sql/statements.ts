/** Splits SQL, as people type it, into statements. Pure. */

/**
 * Matches the tokens of a text: literals, quoted names, dollar quotes and comments (each as a whole, even if its end is
 * missing), the semicolons between statements, and everything else. https://www.postgresql.org/docs/18/sql-syntax-lexical.html
 */
const TOKEN =
  /[eE]'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|\$((?:[A-Za-z_]\w*)?)\$[\s\S]*?(?:\$\1\$|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;|[A-Za-z_]\w*|[\s\S]/g;

/**
 * Splits a text at its semicolons.
 * @returns the complete statements without their semicolons, and the text after the last semicolon; empty statements are left
 *   out.
 */
export function statementsIn(text: string): { readonly complete: string[]; readonly rest: string } {
  const complete: string[] = [];
  let current = '';
  for (const [token] of text.matchAll(TOKEN)) {
    if (token !== ';') current += token;
    else {
      if (!isEmpty(current)) complete.push(current.trim());
      current = '';
    }
  }
  return { complete, rest: isEmpty(current) ? '' : current };
}

const BLANK = /\s+|--[^\n]*|\/\*[\s\S]*?\*\//y;
const OPENING = /\s+|--[^\n]*|\/\*[\s\S]*?\*\/|\(/y;

/**
 * Removes from the beginning of a text all pieces that match a sticky pattern. They are removed one by one, because a single
 * pattern would try every way to divide them.
 */
function withoutLead(text: string, piece: RegExp): string {
  let at = 0;
  for (;;) {
    piece.lastIndex = at;
    if (!piece.test(text)) return text.slice(at);
    at = piece.lastIndex;
  }
}

/** Returns true if a text contains only whitespace and comments. */
function isEmpty(text: string): boolean {
  return withoutLead(text, BLANK) === '';
}

/** Returns true if a statement returns rows that a cursor can fetch in portions. */
export function isQuery(statement: string): boolean {
  const bare = withoutLead(statement, OPENING);
  return /^(?:select|with|values|table)\b/i.test(bare);
}
