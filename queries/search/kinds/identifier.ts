/**
 * `identifier` in conditional criteria: compared as it is written. A token's case counts for nothing in a search, but of
 * two identifiers that differ by case alone nobody but their system knows whether they are one: what a search may show
 * beside each other, a conditional write must not take for the same. https://hl7.org/fhir/R4/search.html#token
 */
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { Binds } from '../../binds.ts';
import type { SearchParameter } from '../parameter.ts';
import { refuseModifier, split, unescaped } from '../raw.ts';
import { tokenPredicate } from './token.ts';

/** Business identifiers, exactly. Provenance alone has none. */
export const identifierParameter: SearchParameter = {
  name: 'identifier',
  appliesTo: (type) => compiledParameter(type, 'identifier') !== undefined,
  predicate(parameter, scope) {
    refuseModifier(parameter);
    const compiled = compiledParameter(scope.type, 'identifier');
    if (compiled === undefined) throw new Error(`${scope.type} has no identifier`);
    const similar = tokenPredicate(parameter, compiled, scope);
    const tokens = parameter.values.map(parseToken);
    const condition = (binds: Binds) => `(${similar(binds)}) and ${hasOne(tokens, binds)}`;
    return Object.assign(condition, { keyed: true });
  },
};

/** What a token asks for: a system, empty for "without system", null for any; a value, null for any. */
interface Token {
  readonly system: string | null;
  readonly value: string | null;
}

/** Reads a token that `tokenPredicate` has taken. */
function parseToken(text: string): Token {
  const [first = '', second] = split(text, '|').map(unescaped);
  if (second === undefined) return { system: null, value: first };
  return { system: first, value: second === '' ? null : second };
}

/**
 * The condition that a row's body holds one of the identifiers. It is looked at in the few that tokens led to; as json, not
 * jsonb, which refuses numbers that FHIR allows.
 */
function hasOne(tokens: readonly Token[], binds: Binds): string {
  const texts = (column: 'system' | 'value') =>
    binds.add(
      tokens.map((token) => token[column]),
      'text[]',
    );
  return `exists (
    select from json_each(r.body::json) m
    cross join lateral json_array_elements(
      case json_typeof(m.value) when 'array' then m.value else json_build_array(m.value) end) i(element)
    join unnest(${texts('system')}, ${texts('value')}) t(system, value)
      on (t.system is null or t.system = coalesce(i.element ->> 'system', ''))
      and coalesce(t.value = i.element ->> 'value', t.value is null)
    where m.key in ('identifier', 'masterIdentifier'))`;
}
