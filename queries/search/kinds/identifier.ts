/**
 * `identifier` in conditional criteria, where it is case-sensitive. Searches ignore the case of tokens, although only the
 * token's system defines whether two identifiers that differ only in case are the same. A search may return both; a
 * conditional write must not confuse them. https://hl7.org/fhir/R4/search.html#token
 */
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { Binds } from '../../database/binds.ts';
import type { SearchParameter } from '../predicates/parameter.ts';
import { refuseModifier, split, unescaped } from '../raw.ts';
import { tokenPredicate } from './token.ts';

/** Business identifiers, compared exactly. Every type other than Provenance has them. */
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

/** A token in the criteria. `system`: empty for "without a system", null for any system; `value`: null for any value. */
interface Token {
  readonly system: string | null;
  readonly value: string | null;
}

/** Parses a token that `tokenPredicate` has accepted. */
function parseToken(text: string): Token {
  const [first = '', second] = split(text, '|').map(unescaped);
  if (second === undefined) return { system: null, value: first };
  return { system: first, value: second === '' ? null : second };
}

/**
 * Returns the condition that a row's body contains one of the identifiers. The condition is checked only for the few rows that
 * were found through tokens. The body is parsed as json, because jsonb rejects some numbers that FHIR allows.
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
