/** Strings: https://hl7.org/fhir/R4/search.html#string */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { LABEL } from '#src/fhir/search/extract.ts';
import { soundForm } from '#src/fhir/search/keys.ts';
import { listSounds } from '#src/fhir/search/phonetic.ts';
import { folded, pieces, withoutIds } from '#src/fhir/search/text.ts';
import type { Binds } from '../../database/binds.ts';
import { rowsPredicate } from '../inner.ts';
import {
  formKeys,
  hasKeys,
  keysPredicate,
  parameterKeys,
  valuesPredicate,
} from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, unescaped } from '../raw.ts';

/**
 * Matches strings that begin with the text, ignoring case and accents; `:contains` matches it anywhere; `:exact` matches only
 * the exact text.
 * @throws Refusal `malformed`
 */
export function stringPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  if (compiled.sounds === true) return soundPredicate(parameter, compiled, scope);
  refuseModifier(parameter, ['exact', 'contains', 'missing']);
  const keys = parameterKeys(compiled, scope);
  return valuesPredicate({ table: 'string', as: 's', keys, condition: stringCondition(parameter) });
}

/**
 * Matches `:text`: a prefix of the text beside a code or reference, compared like a string.
 * @throws Refusal `malformed`
 */
export function labelPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const keys = parameterKeys(compiled, scope, LABEL);
  return valuesPredicate({ table: 'string', as: 's', keys, condition: stringCondition(parameter) });
}

/**
 * Returns the condition that rows `s` of search.string match one of the texts, in the way that the modifier specifies.
 * @throws Refusal `malformed`
 */
export function stringCondition(parameter: RawParameter): (binds: Binds) => string {
  const texts = parameter.values.map((value) => {
    const text = unescaped(value);
    if (folded(text) === '')
      throw badParameter(parameterKey(parameter), 'the value has no characters that can be compared');
    return text;
  });
  return (binds) => texts.map((text) => `(${condition(parameter.modifier, text, binds)})`).join(' or ');
}

/**
 * Index search.string_by_value (key, folded): in the order of bytes nothing is between a text and its continuations. If
 * a text is longer than an index row, its beginning leads to the rows, and the rest is compared. Ids are masked in the
 * rows (`withoutIds`), so only `:exact` finds a text by an id in it.
 */
function condition(modifier: string | undefined, text: string, binds: Binds): string {
  const whole = folded(text);
  if (modifier === 'contains') {
    const part = binds.add(whole, 'text');
    return `strpos(s.folded, ${part}) > 0 or s.rest is not null and strpos(s.folded || s.rest, ${part}) > 0`;
  }
  if (modifier === 'exact') {
    const same = binds.add(pieces(withoutIds(whole)).beginning, 'text');
    return `s.folded = ${same} and s.exact = ${binds.add(text, 'text')}`;
  }
  const { beginning, rest } = pieces(whole);
  const value = binds.add(beginning, 'text');
  if (rest !== null) return `s.folded = ${value} and starts_with(s.rest, ${binds.add(rest, 'text')})`;
  return `s.folded >= ${value} and s.folded < ${value} || chr(1114111) and starts_with(s.folded, ${value})`;
}

/**
 * `phonetic`: matches if every word in one of the given texts sounds like a word in the names. It doesn't compare text, so
 * `:missing` is the only modifier that it accepts.
 * @throws Refusal `malformed`
 */
function soundPredicate(parameter: RawParameter, compiled: CompiledParameter, scope: SearchScope): Predicate {
  refuseModifier(parameter, ['missing']);
  const texts = parameter.values.map((value) => {
    const words = listSounds(unescaped(value));
    if (words.length === 0)
      throw badParameter(parameterKey(parameter), 'the value must have at least one letter or digit');
    return words.map((sounds) => formKeys(compiled, sounds.map(soundForm), scope));
  });
  const [first, ...others] = texts;
  if (first?.length === 1 && others.length === 0) return keysPredicate(first.flat());
  return rowsPredicate((binds) =>
    texts
      .map((sets) => `select e.id, e.record from search.entry e where ${hasKeys('e', sets, binds)}`)
      .join(' union all '),
  );
}
