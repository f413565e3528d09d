/** What search parameters are about. */
import { allPublished, publishedParameter } from './published.ts';

/** Codes that the evaluator knows how to judge: not distances, nor what sounds alike, nor what the service itself sets. */
export function judgedCodes(type: string): string[] {
  const apart = new Set(['near', 'phonetic', '_id', '_lastUpdated', '_text', '_content', '_query']);
  return allPublished()
    .filter(({ base, code }) => (base.includes(type) || base.includes('Resource')) && !apart.has(code))
    .map(({ code }) => code);
}

/** Returns the words in the expressions of a type's parameters: names of the elements that they read, among others. */
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
