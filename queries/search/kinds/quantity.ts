/** Quantities: `number`, `number|system|code`, `number||unit`. https://hl7.org/fhir/R4/search.html#quantity */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { dimensionKey, searchKey } from '#src/fhir/search/keys.ts';
import { isSingle } from '#src/fhir/search/timeline.ts';
import { canonicalRange, UCUM } from '#src/fhir/units/canonical.ts';
import type { Binds } from '../../database/binds.ts';
import { parameterKeys, valuesPredicate } from '../predicates/conditions.ts';
import { type NumberRange, parsePrefixedNumber } from '../predicates/numbers.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { quantitiesFrom, type Span } from '../predicates/span.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

interface Asked {
  readonly number: NumberRange;
  readonly system?: string;
  readonly unit?: string;
}

/**
 * Matches any of the quantities.
 * @throws Refusal `malformed`
 */
export function quantityPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  refuseModifier(parameter, ['missing']);
  const span = quantitySpan(parameter);
  return valuesPredicate({
    table: 'quantity',
    as: 'q',
    keys: parameterKeys(compiled, scope),
    single: isSingle(scope.type, compiled),
    condition: quantityCondition(parameter),
    ...(span === undefined ? {} : { span }),
  });
}

/**
 * Returns the span that a single quantity implies; undefined if the low ends already have a lower bound, or if there are no
 * bounds.
 */
export function quantitySpan(parameter: RawParameter): Span | undefined {
  const [asked, ...others] = parameter.values.map((value) => parse(parameter, value));
  if (asked === undefined || others.length > 0) return undefined;
  const canonical = toCanonical(asked);
  const { prefix, value, near } = canonical?.number ?? asked.number;
  const columns = canonical === undefined ? '' : 'canonical_';
  switch (prefix) {
    case 'gt':
    case 'ge':
      return quantitiesFrom(columns, value);
    case 'ap':
      return quantitiesFrom(columns, near[0]);
    default:
      return undefined;
  }
}

/** Converts the requested quantity to base units, if its unit can be converted. */
function toCanonical({ number, system, unit }: Asked): ReturnType<typeof inBaseUnits> {
  return system === UCUM && unit !== undefined ? inBaseUnits(number, unit) : undefined;
}

/**
 * Returns the condition that rows `q` of search.quantity match one of the quantities. A UCUM unit with its system matches
 * every unit that can be converted to the same base units. Without a unit, only numbers are compared. Any other unit is
 * compared literally.
 * @throws Refusal `malformed`
 */
export function quantityCondition(parameter: RawParameter): (binds: Binds) => string {
  const asked = parameter.values.map((value) => parse(parameter, value));
  return (binds) => asked.map((each) => `(${condition(each, binds)})`).join(' or ');
}

function parse(parameter: RawParameter, text: string): Asked {
  const [number = '', system = '', unit = '', ...others] = split(text, '|').map(unescaped);
  if (others.length > 0) throw badParameter(parameterKey(parameter), 'the value must be number|system|code');
  return {
    number: parsePrefixedNumber(parameterKey(parameter), number),
    ...(system === '' ? {} : { system }),
    ...(unit === '' ? {} : { unit }),
  };
}

function condition(asked: Asked, binds: Binds): string {
  const { number, system, unit } = asked;
  const canonical = toCanonical(asked);
  if (canonical !== undefined) {
    const dimension = binds.add(searchKey(dimensionKey(canonical.dimension)), 'int8');
    return `q.dimension = ${dimension} and (${compare(canonical.number, 'q.canonical_', binds)})`;
  }
  const conditions = [`(${compare(number, 'q.', binds)})`];
  if (system !== undefined) conditions.push(`q.system = ${binds.add(system, 'text')}`);
  if (unit !== undefined) {
    const text = binds.add(unit, 'text');
    conditions.push(system === undefined ? `(q.code = ${text} or q.unit = ${text})` : `q.code = ${text}`);
  }
  return conditions.join(' and ');
}

/** Converts a number to base units; undefined for a unit that UCUM doesn't define, or that has no conversion factor. */
function inBaseUnits(
  number: NumberRange,
  unit: string,
): { readonly dimension: string; readonly number: NumberRange } | undefined {
  const value = canonicalRange(unit, number.value, number.value);
  const range = canonicalRange(unit, number.low, number.high);
  const near = canonicalRange(unit, ...number.near);
  if (value === undefined || range === undefined || near === undefined) return undefined;
  const { dimension, low, high } = range;
  return {
    dimension,
    number: { prefix: number.prefix, value: value.low, low, high, near: [near.low, near.high] },
  };
}

/** Indexes search.quantity_by_low (key, low), quantity_by_canonical and quantity_about. */
function compare({ prefix, value, low, high, near }: NumberRange, columns: string, binds: Binds): string {
  const number = (text: string) => binds.add(text, 'numeric');
  const [bottom, top] = [`${columns}low`, `${columns}high`];
  switch (prefix) {
    case 'eq':
      return `${bottom} >= ${number(low)} and ${bottom} < ${number(high)} and ${top} < ${number(high)}`;
    case 'ne':
      return `${bottom} < ${number(low)} or ${top} >= ${number(high)}`;
    case 'gt':
      return `${top} > ${number(value)}`;
    case 'ge':
      return `${top} >= ${number(value)}`;
    case 'lt':
      return `${bottom} < ${number(value)}`;
    case 'le':
      return `${bottom} <= ${number(value)}`;
    case 'sa':
      return `${bottom} > ${number(value)}`;
    case 'eb':
      return `${top} < ${number(value)}`;
    case 'ap':
      return `${bottom} <= ${number(near[1])} and ${top} >= ${number(near[0])}`;
  }
}
