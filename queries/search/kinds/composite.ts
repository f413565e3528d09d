/** Composites: `code$value`, where both values are from the same element. https://hl7.org/fhir/R4/search.html#composite */

import type { CompiledParameter, Composite, Part } from '#src/fhir/search/compiled-parameter.ts';
import { pairForm, searchKey, systemKey, tokenForm } from '#src/fhir/search/keys.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { Binds } from '../../database/binds.ts';
import {
  equalsOneOf,
  formKeys,
  keysPredicate,
  parameterKeys,
  valuesPredicate,
} from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import type { Span } from '../predicates/span.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, split } from '../raw.ts';
import { dateCondition, dateSpan } from './date.ts';
import { quantityCondition, quantitySpan } from './quantity.ts';
import { parseReferenceForms } from './reference.ts';
import { stringCondition } from './string.ts';
import { parseToken, parseTokenForm } from './token.ts';

/** Conditions on the rows of a table, by the second part's type. */
const ORDERED: Readonly<
  Record<
    string,
    {
      readonly table: string;
      readonly as: string;
      condition(part: RawParameter, scope: SearchScope): (binds: Binds) => string;
      span?(part: RawParameter, scope: SearchScope): Span | undefined;
    }
  >
> = {
  quantity: { table: 'quantity', as: 'q', condition: quantityCondition, span: quantitySpan },
  date: { table: 'period', as: 'p', condition: dateCondition, span: dateSpan },
  string: { table: 'string', as: 's', condition: stringCondition },
};

/**
 * Matches any of the pairs. Composites don't accept modifiers.
 * @throws Refusal `malformed`
 */
export function compositePredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter);
  const { composite } = compiled;
  if (composite === undefined) throw new Error(`${compiled.code} is not a composite`);
  const pairs = parameter.values.map((value) => {
    const [first = '', second = '', ...others] = split(value, '$');
    if (first === '' || second === '' || others.length > 0) {
      throw badParameter(
        parameterKey(parameter),
        `the value must be ${composite.parts.map(({ code }) => code).join('$')}`,
      );
    }
    return [first, second] as const;
  });
  return composite.ordered
    ? orderedPredicate(parameter, pairs, composite, scope)
    : pairsPredicate(parameter, pairs, compiled, composite, scope);
}

/** Compares both parts by their forms: entries have one key for each pair. */
function pairsPredicate(
  parameter: RawParameter,
  pairs: readonly (readonly [string, string])[],
  compiled: CompiledParameter,
  { parts }: Composite,
  scope: SearchScope,
): Predicate {
  const parseForms = ({ code, type }: Part, text: string) =>
    type === 'reference'
      ? parseReferenceForms(parameter, text, { code }, scope)
      : [parseTokenForm(parameter, text)];
  const forms = pairs.flatMap(([first, second]) => {
    const seconds = parseForms(parts[1], second);
    return parseForms(parts[0], first).flatMap((one) => seconds.map((other) => pairForm(one, other)));
  });
  return keysPredicate(formKeys(compiled, forms, scope));
}

/** Compares values of the second part's parameter that are stored with the first part (columns `about` and `about_system`). */
function orderedPredicate(
  parameter: RawParameter,
  pairs: readonly (readonly [string, string])[],
  { parts }: Composite,
  scope: SearchScope,
): Predicate {
  const values = compiledParameter(scope.type, parts[1].code);
  const ordered = ORDERED[parts[1].type];
  if (values === undefined || ordered === undefined) throw new Error(`a composite with ${parts[1].code}`);
  const { table, as } = ordered;
  const alternatives = pairs.map(([first, second]) => {
    const { system, code } = parseToken(parameter, first);
    const part = { name: parameter.name, values: [second], text: second };
    return {
      system: system === undefined ? undefined : searchKey(systemKey(system)),
      codes: code === undefined ? undefined : formKeys(values, [tokenForm.code(code)], scope),
      value: ordered.condition(part, scope),
      span: ordered.span?.(part, scope),
    };
  });
  const condition = (binds: Binds) =>
    alternatives
      .map(({ system, codes, value }) => {
        const parts = [`(${value(binds)})`];
        if (codes !== undefined) parts.unshift(equalsOneOf(`${as}.about`, codes, binds));
        if (system !== undefined) parts.push(`${as}.about_system = ${binds.add(system, 'int8')}`);
        return `(${parts.join(' and ')})`;
      })
      .join(' or ');
  const codes = alternatives.map((each) => each.codes);
  const [only, ...others] = alternatives;
  const span = others.length === 0 && only?.span !== undefined ? { span: only.span } : {};
  // For any code in a system, all of the parameter's values have to be read.
  if (!codes.every((each) => each !== undefined))
    return valuesPredicate({ table, as, keys: parameterKeys(values, scope), condition, ...span });
  const predicate = valuesPredicate({ table, as, keys: codes.flat(), by: 'about', condition, ...span });
  const token = compiledParameter(scope.type, parts[0].code);
  if (token?.type !== 'token') return predicate;
  const forms = pairs.flatMap(([first]) => {
    const { code } = parseToken(parameter, first);
    return code === undefined ? [] : [tokenForm.code(code)];
  });
  return Object.assign(predicate, { implied: () => formKeys(token, forms, scope) });
}
