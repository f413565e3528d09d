/** Strings: https://hl7.org/fhir/R4/search.html#string */

import { parameterKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { FOLDED_LENGTH, folded } from '#src/fhir/search/text.ts';
import { searchKey } from '#src/shared/search-key.ts';
import { searchable } from '#src/shared/searchable.ts';
import type { Binds } from '../../binds.ts';
import type { SearchScope } from '../parameter.ts';
import { type Predicate, valuesPredicate } from '../predicate.ts';
import { badParameter, keyOf, type RawParameter, refuseModifier, unescaped } from '../raw.ts';

/**
 * Begins with the text, without regard to case and accents; `:contains` it anywhere; `:exact` is it.
 * @throws Refusal `malformed`
 */
export function stringPredicate(
  parameter: RawParameter,
  { code }: CompiledParameter,
  { tenant, type }: SearchScope,
): Predicate {
  refuseModifier(parameter, ['exact', 'contains']);
  const key = searchKey(parameterKey(tenant, type, code));
  const texts = parameter.values.map((value) => {
    const text = unescaped(value);
    if (folded(text) === '') throw badParameter(keyOf(parameter), 'the value has no characters to compare');
    return text;
  });
  const any = (binds: Binds) =>
    texts.map((text) => `(${condition(parameter.modifier, text, binds)})`).join(' or ');
  return valuesPredicate({ table: 'string', as: 's', key, condition: any });
}

/** Index search.string_by_value (key, folded): in the order of bytes nothing lies between a text and what follows it. */
function condition(modifier: string | undefined, text: string, binds: Binds): string {
  const comparable = folded(text).slice(0, FOLDED_LENGTH);
  if (modifier === 'contains') return `strpos(s.folded, ${binds.add(comparable, 'text')}) > 0`;
  const value = binds.add(comparable, 'text');
  if (modifier === 'exact') return `s.folded = ${value} and s.exact = ${binds.add(searchable(text), 'text')}`;
  return `s.folded >= ${value} and s.folded < ${value} || chr(1114111) and starts_with(s.folded, ${value})`;
}
