/** Quantities: `number`, `number|system|code`, `number||unit`. https://hl7.org/fhir/R4/search.html#quantity */
import { parameterKey } from '#src/fhir/search/keys.ts';
import type { CompiledParameter } from '#src/fhir/search/paths.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { Binds } from '../../binds.ts';
import { type NumberRange, parsePrefixedNumber } from '../numbers.ts';
import type { SearchScope } from '../parameter.ts';
import { type Predicate, valuesPredicate } from '../predicate.ts';
import { badParameter, keyOf, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

interface Asked {
  readonly number: NumberRange;
  readonly system?: string;
  readonly unit?: string;
}

/** Any of the quantities; units are compared as they are written. @throws Refusal `malformed` */
export function quantityPredicate(
  parameter: RawParameter,
  { code }: CompiledParameter,
  { tenant, type }: SearchScope,
): Predicate {
  refuseModifier(parameter);
  const key = searchKey(parameterKey(tenant, type, code));
  const asked = parameter.values.map((value) => parse(parameter, value));
  const any = (binds: Binds) => asked.map((each) => `(${condition(each, binds)})`).join(' or ');
  return valuesPredicate({ table: 'quantity', as: 'q', key, condition: any });
}

function parse(parameter: RawParameter, text: string): Asked {
  const [number = '', system = '', unit = '', ...others] = split(text, '|').map(unescaped);
  if (others.length > 0) throw badParameter(keyOf(parameter), 'the value must be number|system|code');
  return {
    number: parsePrefixedNumber(keyOf(parameter), number),
    ...(system === '' ? {} : { system }),
    ...(unit === '' ? {} : { unit }),
  };
}

function condition({ number, system, unit }: Asked, binds: Binds): string {
  const conditions = [`(${compare(number, binds)})`];
  if (system !== undefined) conditions.push(`q.system = ${binds.add(system, 'text')}`);
  if (unit !== undefined) {
    const asked = binds.add(unit, 'text');
    conditions.push(system === undefined ? `(q.code = ${asked} or q.unit = ${asked})` : `q.code = ${asked}`);
  }
  return conditions.join(' and ');
}

/** Index search.quantity_by_low (key, low). */
function compare({ prefix, value, low, high }: NumberRange, binds: Binds): string {
  const number = (text: string) => binds.add(text, 'numeric');
  switch (prefix) {
    case 'eq':
      return `q.low >= ${number(low)} and q.high < ${number(high)}`;
    case 'ne':
      return `q.low < ${number(low)} or q.high >= ${number(high)}`;
    case 'gt':
      return `q.high > ${number(value)}`;
    case 'ge':
      return `q.high >= ${number(value)}`;
    case 'lt':
      return `q.low < ${number(value)}`;
    case 'le':
      return `q.low <= ${number(value)}`;
    case 'sa':
      return `q.low > ${number(value)}`;
    case 'eb':
      return `q.high < ${number(value)}`;
    case 'ap': {
      const [given, half] = [number(value), `0.1`];
      return `q.low <= ${given} + abs(${given}) * ${half} and q.high >= ${given} - abs(${given}) * ${half}`;
    }
  }
}
