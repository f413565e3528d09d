/** An array of texts as PostgreSQL reads it, every element quoted (PostgreSQL documentation, "Array Input and Output Syntax"). */
export function arrayLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}
