/** Strings: https://hl7.org/fhir/R4/search.html#string */

import { LABEL } from '#src/fhir/search/extract.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { FOLDED_LENGTH, folded } from '#src/fhir/search/text.ts';
import { searchable } from '#src/shared/searchable.ts';
import type { Binds } from '../../binds.ts';
import type { SearchScope } from '../parameter.ts';
import { type Predicate, valuesPredicate } from '../predicate.ts';
import { badParameter, keyOf, type RawParameter, refuseModifier, unescaped } from '../raw.ts';
import { parameterKeys } from '../stored.ts';

/**
 * Begins with the text, without regard to case and accents; `:contains` it anywhere; `:exact` is it.
 * @throws Refusal `malformed`
 */
export function stringPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter, ['exact', 'contains']);
  const keys = parameterKeys(compiled, scope);
  return valuesPredicate({ table: 'string', as: 's', keys, condition: stringCondition(parameter) });
}

/** `:text`: begins with the text, like a string, in what stands beside a code or reference. @throws Refusal `malformed` */
export function labelPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const keys = parameterKeys(compiled, scope, LABEL);
  return valuesPredicate({ table: 'string', as: 's', keys, condition: stringCondition(parameter) });
}

/** The condition that rows `s` of search.string are one of the texts, by the modifier. @throws Refusal `malformed` */
export function stringCondition(parameter: RawParameter): (binds: Binds) => string {
  const texts = parameter.values.map((value) => {
    const text = unescaped(value);
    if (folded(text) === '') throw badParameter(keyOf(parameter), 'the value has no characters to compare');
    return text;
  });
  return (binds) => texts.map((text) => `(${condition(parameter.modifier, text, binds)})`).join(' or ');
}

/** Index search.string_by_value (key, folded): in the order of bytes nothing lies between a text and what follows it. */
function condition(modifier: string | undefined, text: string, binds: Binds): string {
  const comparable = folded(text).slice(0, FOLDED_LENGTH);
  if (modifier === 'contains') return `strpos(s.folded, ${binds.add(comparable, 'text')}) > 0`;
  const value = binds.add(comparable, 'text');
  if (modifier === 'exact') return `s.folded = ${value} and s.exact = ${binds.add(searchable(text), 'text')}`;
  return `s.folded >= ${value} and s.folded < ${value} || chr(1114111) and starts_with(s.folded, ${value})`;
}
