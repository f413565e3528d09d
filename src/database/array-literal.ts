/**
 * Returns an array of texts in PostgreSQL's format, with every text quoted (PostgreSQL documentation, "Array Input and Output
 * Syntax").
 */
export function arrayLiteral(texts: readonly (string | null)[]): string {
  return `{${texts.map((text) => (text === null ? 'null' : `"${text.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}
