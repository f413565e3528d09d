/** Tokens: `code`, `system|code`, `|code`, `system|`. https://hl7.org/fhir/R4/search.html#token */
import { tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { SearchScope } from '../parameter.ts';
import { keysPredicate, noKeysPredicate, type Predicate } from '../predicate.ts';
import { badParameter, keyOf, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

/**
 * Any of the tokens; with `:not` none of them, whatever else there is; with `:of-type` identifiers by type and value.
 * @throws Refusal `malformed`
 */
export function tokenPredicate(
  parameter: RawParameter,
  { paths }: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const identifiers = paths.some(({ type }) => type === 'Identifier');
  refuseModifier(parameter, identifiers ? ['not', 'of-type'] : ['not']);
  const form = parameter.modifier === 'of-type' ? ofTypeForm : parseTokenForm;
  const keys = parameter.values.map((value) =>
    searchKey(valueKey(scope.tenant, scope.type, parameter.name, form(parameter, value))),
  );
  return parameter.modifier === 'not' ? noKeysPredicate(keys) : keysPredicate(keys);
}

/** The form (`keys.ts`) of a token in a query. @throws Refusal `malformed` */
export function parseTokenForm(parameter: RawParameter, text: string): string {
  const [first = '', second, ...others] = split(text, '|').map(unescaped);
  if (others.length > 0 || (first === '' && second === '')) {
    throw badParameter(keyOf(parameter), 'the value must be code, system|code, |code or system|');
  }
  if (second === undefined) return tokenForm.code(first);
  return second === '' ? tokenForm.system(first) : tokenForm.pair(first, second);
}

function ofTypeForm(parameter: RawParameter, text: string): string {
  const [system = '', type = '', value = '', ...others] = split(text, '|').map(unescaped);
  if (others.length > 0 || type === '' || value === '') {
    throw badParameter(keyOf(parameter), 'the value must be system|code|value of an identifier');
  }
  return tokenForm.ofType(system, type, value);
}
