/** References: `id`, `Type/id`, a URL. https://hl7.org/fhir/R4/search.html#reference */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { LOGICAL } from '#src/fhir/search/extract.ts';
import { referenceForm, valueKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { SearchScope } from '../parameter.ts';
import { keysPredicate, type Predicate } from '../predicate.ts';
import { badParameter, keyOf, type RawParameter, refuseModifier, unescaped } from '../raw.ts';
import { parseTokenForm } from './token.ts';

const LITERAL = /^(?:([A-Za-z]{1,64})\/)?([A-Za-z0-9.-]{1,64})(\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/**
 * Any of the references. `:Patient` says of what type an id is; `:identifier` finds by the identifier in the reference.
 * @throws Refusal `malformed`
 */
export function referencePredicate(
  parameter: RawParameter,
  { code }: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const { modifier } = parameter;
  if (modifier === 'identifier') {
    return keysOf(
      code + LOGICAL,
      parameter.values.map((value) => parseTokenForm(parameter, value)),
      scope,
    );
  }
  const targets = targetsOf(scope, code);
  if (modifier !== undefined && !targets.includes(modifier)) refuseModifier(parameter);
  const forms = parameter.values.flatMap((value) => parseForms(parameter, unescaped(value), targets, scope));
  return keysOf(code, forms, scope);
}

function keysOf(code: string, forms: readonly string[], { tenant, type }: SearchScope): Predicate {
  return keysPredicate(forms.map((form) => searchKey(valueKey(tenant, type, code, form))));
}

/** The types that a parameter may name; one that may name any has no modifier of a type but R4's own. */
function targetsOf({ type }: SearchScope, code: string): readonly string[] {
  return searchParameter(type, code)?.target ?? [];
}

/** What the reference may be written as in resources: relative, or in full below our base. */
function parseForms(
  parameter: RawParameter,
  value: string,
  targets: readonly string[],
  { base }: SearchScope,
): string[] {
  const relative = value.startsWith(base) ? value.slice(base.length) : value;
  const [, type = parameter.modifier, id, version = ''] = LITERAL.exec(relative) ?? [];
  if (id === undefined) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(value)) return [referenceForm.url(value)];
    throw badParameter(keyOf(parameter), 'the value is not a reference such as Patient/<id>');
  }
  if (type === undefined) {
    return [referenceForm.id(id), ...targets.map((target) => referenceForm.url(`${base}${target}/${id}`))];
  }
  if (!isR4ResourceType(type) || (parameter.modifier !== undefined && type !== parameter.modifier)) {
    throw badParameter(
      keyOf(parameter),
      `the value must be a reference to a ${parameter.modifier ?? 'type'}`,
    );
  }
  const whole = `${type}/${id}${version}`;
  return [referenceForm.relative(whole), referenceForm.url(base + whole)];
}
