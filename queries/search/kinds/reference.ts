/** References: `id`, `Type/id`, a URL. https://hl7.org/fhir/R4/search.html#reference */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { LOGICAL } from '#src/fhir/search/extract.ts';
import { referenceForm } from '#src/fhir/search/keys.ts';
import { withArticle } from '#src/shared/article.ts';
import { formKeys, keysPredicate } from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, unescaped } from '../raw.ts';
import { hierarchyPredicate } from './hierarchy.ts';
import { labelPredicate } from './string.ts';
import { parseTokenForm } from './token.ts';

const LITERAL = /^(?:([A-Za-z]{1,64})\/)?([A-Za-z0-9.-]{1,64})(\/_history\/[A-Za-z0-9.-]{1,64})?$/;

/**
 * Matches any of the references. `:Patient` specifies the type of an id; `:identifier` matches the identifier in the
 * reference, and `:text` its display; `:below` and `:above` follow a hierarchy.
 * @throws Refusal `malformed`
 */
export function referencePredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const { modifier, values } = parameter;
  if (modifier === 'identifier') {
    const forms = values.map((value) => parseTokenForm(parameter, value));
    return keysPredicate(formKeys(compiled, forms, scope, LOGICAL));
  }
  if (modifier === 'text') return labelPredicate(parameter, compiled, scope);
  if (modifier === 'below' || modifier === 'above') return hierarchyPredicate(parameter, compiled, scope);
  if (modifier !== undefined && !referenceTargets(scope, compiled).includes(modifier))
    refuseModifier(parameter);
  const forms = values.flatMap((value) => parseReferenceForms(parameter, value, compiled, scope));
  return keysPredicate(formKeys(compiled, forms, scope));
}

/**
 * Returns the types that a parameter may name. If it may name any type, only type modifiers that R4 itself defines are
 * accepted.
 */
function referenceTargets(
  { type }: SearchScope,
  { code }: Pick<CompiledParameter, 'code'>,
): readonly string[] {
  return searchParameter(type, code)?.target ?? [];
}

/**
 * Returns the forms (`keys.ts`) in which resources can contain a query's reference: relative, or absolute below our base URL.
 * @throws Refusal `malformed`
 */
export function parseReferenceForms(
  parameter: RawParameter,
  text: string,
  compiled: Pick<CompiledParameter, 'code'>,
  scope: SearchScope,
): string[] {
  const { base } = scope;
  const value = unescaped(text);
  const relative = value.startsWith(base) ? value.slice(base.length) : value;
  const [, type = parameter.modifier, id, version = ''] = LITERAL.exec(relative) ?? [];
  if (id === undefined) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(value)) return [referenceForm.url(value)];
    throw badParameter(parameterKey(parameter), 'the value is not a reference such as Patient/<id>');
  }
  if (type === undefined) {
    if (scope.referable?.(undefined, id) === false) return [];
    return [
      referenceForm.id(id),
      ...referenceTargets(scope, compiled).map((target) => referenceForm.url(`${base}${target}/${id}`)),
    ];
  }
  if (!isR4ResourceType(type) || (parameter.modifier !== undefined && type !== parameter.modifier)) {
    throw badParameter(
      parameterKey(parameter),
      `the value must be a reference to ${withArticle(parameter.modifier ?? 'type')}`,
    );
  }
  if (scope.referable?.(type, id) === false) return [];
  const whole = `${type}/${id}${version}`;
  return [referenceForm.relative(whole), referenceForm.url(base + whole)];
}
