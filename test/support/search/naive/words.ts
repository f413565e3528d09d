/** Lists the search parameters that tests use, and the elements that these parameters read. */
import { allPublished, publishedParameter } from './published.ts';

/**
 * Returns the codes of the parameters that the evaluator supports, which exclude distances, phonetic matches, and values that
 * the service itself sets.
 */
export function judgedCodes(type: string): string[] {
  const apart = new Set(['near', 'phonetic', '_id', '_lastUpdated', '_text', '_content', '_query']);
  return allPublished()
    .filter(({ base, code }) => (base.includes(type) || base.includes('Resource')) && !apart.has(code))
    .map(({ code }) => code);
}

/**
 * Returns the words in the expressions of a type's parameters. They include the names of the elements that the parameters
 * read.
 */
export function wordsOf(type: string): Set<string> {
  const expressions = judgedCodes(type).flatMap((code) => {
    const parameter = publishedParameter(type, code);
    return parameter === undefined
      ? []
      : [parameter.expression, ...parameter.parts.map((part) => part.expression)];
  });
  const own = expressions.flatMap((text) =>
    text.split('|').filter((operand) => !/^[\s(]*[A-Z]/.test(operand) || operand.includes(type)),
  );
  return new Set(own.flatMap((text) => text.match(/\w+/g) ?? []));
}
