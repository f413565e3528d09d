/** Returns a FHIR type's name with its indefinite article, for diagnostics: "a Patient", "an Observation", "a uri". */
export function withArticle(name: string): string {
  return `${/^(?:[aeio]|un)/i.test(name) ? 'an' : 'a'} ${name}`;
}
