/** Tokens: `code`, `system|code`, `|code`, `system|`. https://hl7.org/fhir/R4/search.html#token */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { hasKeyInRecord, inRecordKey, searchKey, tokenForm } from '#src/fhir/search/keys.ts';
import { formKeys, keysPredicate, noKeysPredicate } from '../predicates/conditions.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';
import { expandedCodes } from '../terms.ts';
import { labelPredicate } from './string.ts';

const MODIFIERS = ['not', 'text', 'in', 'not-in', 'above', 'below', 'missing'];

/**
 * Matches any of the tokens. `:not` matches resources that have none of them; `:of-type` matches identifiers by type and
 * value; `:text` matches the text beside the code; `:in`, `:below` and `:above` match any of the codes to which their values
 * expand.
 * @throws Refusal `malformed`
 */
export function tokenPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const { modifier } = parameter;
  const identifiers = compiled.paths.some(({ type }) => type === 'Identifier');
  refuseModifier(parameter, identifiers ? [...MODIFIERS, 'of-type'] : MODIFIERS);
  if (modifier === 'text') return labelPredicate(parameter, compiled, scope);
  const forms = tokenForms(parameter, scope);
  const keys = formKeys(compiled, forms, scope);
  if (modifier === 'not' || modifier === 'not-in') return noKeysPredicate(keys);
  const inRecord = compiled.stored.every((code) => forms.every((form) => hasKeyInRecord(code, form)));
  return inRecord
    ? keysPredicate(keys, {
        keysInRecord: (record) => keys.map((key) => searchKey(inRecordKey(key, record))),
      })
    : keysPredicate(keys);
}

function tokenForms(parameter: RawParameter, scope: SearchScope): string[] {
  switch (parameter.modifier) {
    case 'of-type':
      return parameter.values.map((value) => ofTypeForm(parameter, value));
    case 'in':
    case 'not-in':
    case 'above':
    case 'below':
      return parameter.values
        .flatMap((value) => expandedCodes(parameter, value, scope))
        .map(({ system, code = '' }) => tokenForm.pair(system, code));
    default:
      return parameter.values.map((value) => parseTokenForm(parameter, value));
  }
}

/** A token in a query. An empty system matches codes without a system; without a code, all codes in the system match. */
export interface AskedToken {
  readonly system?: string;
  readonly code?: string;
}

/**
 * Parses a token.
 * @throws Refusal `malformed`
 */
export function parseToken(parameter: RawParameter, text: string): AskedToken {
  const [first = '', second, ...others] = split(text, '|').map(unescaped);
  if (others.length > 0 || (first === '' && (second ?? '') === '')) {
    throw badParameter(parameterKey(parameter), 'the value must be code, system|code, |code or system|');
  }
  if (second === undefined) return { code: first };
  return second === '' ? { system: first } : { system: first, code: second };
}

/**
 * Returns the form (`keys.ts`) of a token in a query.
 * @throws Refusal `malformed`
 */
export function parseTokenForm(parameter: RawParameter, text: string): string {
  const { system, code } = parseToken(parameter, text);
  if (code === undefined) return tokenForm.system(system ?? '');
  return system === undefined ? tokenForm.code(code) : tokenForm.pair(system, code);
}

function ofTypeForm(parameter: RawParameter, text: string): string {
  const [system = '', type = '', value = '', ...others] = split(text, '|').map(unescaped);
  if (others.length > 0 || type === '' || value === '') {
    throw badParameter(parameterKey(parameter), 'the value must be system|code|value of an identifier');
  }
  return tokenForm.ofType(system, type, value);
}
