/** `identifier`: a token, `value`, `system|value`, `|value` or `system|`. https://hl7.org/fhir/R4/search.html#token */
import { searchable } from '#src/shared/searchable.ts';
import type { SearchParameter } from '../parameter.ts';
import { badParameter, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

/** Business identifiers. Provenance alone has none. */
export const identifierParameter: SearchParameter = {
  name: 'identifier',
  appliesTo: (type) => type !== 'Provenance',
  predicate(parameter, scope) {
    refuseModifier(parameter);
    const tokens = parameter.values.map((value) => parseToken(parameter, value));
    // Index identifier_by_value (tenant, type, value, system); of `system|` only its first two columns.
    return (binds) => {
      const any = tokens.map(({ system, value }) => {
        const parts = [];
        if (value !== undefined) parts.push(`i.value = ${binds.add(searchable(value), 'text')}`);
        if (system === '') parts.push('i.system is null');
        else if (system !== undefined) parts.push(`i.system = ${binds.add(searchable(system), 'text')}`);
        return `(${parts.join(' and ')})`;
      });
      return `r.id in (
        select i.id from resources.identifier i
        where i.tenant = ${binds.add(scope.tenant, 'uuid')} and i.type = ${binds.add(scope.type, 'text')}
          and (${any.join(' or ')}))`;
    };
  },
};

/** What a token asks for; an empty system stands for "without system". */
function parseToken(parameter: RawParameter, text: string): { system?: string; value?: string } {
  const parts = split(text, '|').map(unescaped);
  const [first = '', second] = parts;
  if (parts.length > 2 || (first === '' && second === '')) {
    throw badParameter(parameter.name, 'the value must be value, system|value, |value or system|');
  }
  if (second === undefined) return { value: first };
  return second === '' ? { system: first } : { system: first, value: second };
}
