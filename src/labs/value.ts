/**
 * Converts values of results (OBX-2, OBX-5, OBX-6) to elements of an Observation: HL7 v2 chapter 2A →
 * https://hl7.org/fhir/R4/observation.html
 */

import type { JsonObject } from '#src/shared/json.ts';
import { codeText, conceptIn } from './codes.ts';
import type { Field } from './hl7v2/message.ts';
import { readMoment, timeOf } from './hl7v2/time.ts';
import { comparatorOf, decimalIn, measuredIn } from './numbers.ts';
import { fhirTime } from './times.ts';
import { quantityOf, ucumOf } from './units.ts';
import type { Zone } from './zones.ts';

/** The context for reading values. */
export interface ValueContext {
  readonly type: string;
  /** As written. */
  readonly unit: string;
  /** In UCUM. */
  readonly code: string | undefined;
  readonly sender: string;
  /** Offset of times that have none. */
  readonly zone: string | Zone | undefined;
}

/** A value's element, and a note on what its own type could not express. */
export interface Value {
  /** Empty if there is no value. */
  readonly element: JsonObject;
  readonly warning?: string;
}

const NOTHING: Value = { element: {} };
const TEXTS = new Set(['ST', 'TX', 'FT', '']);

/** Returns whether a value type is text, whose repetitions are lines of one value. */
export function isText(type: string): boolean {
  return TEXTS.has(type);
}

/** Returns the value of a field's repetition. A value that does not fit its type is kept as text, and noted. */
export function valueIn(field: Field, context: ValueContext): Value {
  const { type, sender, zone } = context;
  switch (type) {
    case 'NM':
      return numeric(field.whole, context);
    case 'SN':
      return structured(field, context);
    case 'CE':
    case 'CWE':
    case 'CNE':
    case 'CF':
      return valued('valueCodeableConcept', conceptIn(field, sender));
    case 'IS':
    case 'ID':
      return coded(field.whole);
    case 'DT':
    case 'DTM':
    case 'TS':
      return timed(field.part(1), zone);
    case 'TM': {
      const time = fhirTime(timeOf(field.part(1)), 'time');
      return time === undefined ? kept(field.whole, 'TM') : { element: { valueTime: time } };
    }
    case 'NR':
      return range(field.part(1), field.part(2), field, context);
    case 'CQ': {
      const unit = field.part(2);
      return numeric(field.part(1), unit === '' ? context : { unit, code: ucumOf(unit) });
    }
    default:
      return TEXTS.has(type) ? textual(field.whole, context) : kept(field.text, type);
  }
}

/** Returns a text that may be a number: `< 5` with a unit is one. Without a unit, `1` may be a name. */
export function textual(text: string, context: Pick<ValueContext, 'unit' | 'code'>): Value {
  const measured = context.unit === '' ? undefined : measuredIn(text);
  return measured === undefined
    ? valued('valueString', text === '' ? undefined : text)
    : { element: { valueQuantity: quantityOf(measured, context.unit, context.code) } };
}

/** Returns a number, also one with a comparator such as `<5`. */
function numeric(text: string, context: Pick<ValueContext, 'unit' | 'code'>): Value {
  if (text === '') return NOTHING;
  const measured = measuredIn(text);
  if (measured === undefined) return kept(text, 'NM');
  return { element: { valueQuantity: quantityOf(measured, context.unit, context.code) } };
}

/** Returns a structured numeric value (SN): `<^5`, `^1^-^10`, `^1^:^128`, `^2^+`. */
function structured(field: Field, context: ValueContext): Value {
  const [sign, first, separator, second] = [1, 2, 3, 4].map((n) => field.part(n)) as [
    string,
    string,
    string,
    string,
  ];
  const value = decimalIn(first);
  const words = [sign, first, separator, second].join('');
  if (words === '') return NOTHING;
  if (value === undefined) return kept(words, 'SN');
  if (separator === '' && second === '') {
    const comparator = comparatorOf(sign);
    if (comparator !== undefined)
      return {
        element: { valueQuantity: quantityOf({ comparator, value }, context.unit, context.code) },
      };
    if (sign === '' || sign === '=')
      return { element: { valueQuantity: quantityOf({ value }, context.unit, context.code) } };
    return valued('valueString', words);
  }
  if (sign !== '' && sign !== '=') return valued('valueString', words);
  const other = decimalIn(second);
  if (separator === '-' && other !== undefined) return range(first, second, field, context);
  if ((separator === ':' || separator === '/') && other !== undefined)
    return { element: { valueRatio: { numerator: { value }, denominator: { value: other } } } };
  return valued('valueString', words);
}

function range(from: string, to: string, field: Field, { unit, code, type }: ValueContext): Value {
  const [low, high] = [decimalIn(from), decimalIn(to)];
  if (low === undefined && high === undefined) return kept(field.text, type);
  if (Number(String(low)) > Number(String(high))) return kept(field.text, type);
  return {
    element: {
      valueRange: {
        ...(low === undefined ? {} : { low: quantityOf({ value: low }, unit, code) }),
        ...(high === undefined ? {} : { high: quantityOf({ value: high }, unit, code) }),
      },
    },
  };
}

/** Returns a code from a table that the message does not name. */
function coded(text: string): Value {
  const code = codeText(text);
  return code === '' ? NOTHING : { element: { valueCodeableConcept: { coding: [{ code }], text: code } } };
}

function timed(text: string, zone: string | Zone | undefined): Value {
  if (text === '') return NOTHING;
  const time = fhirTime(readMoment(text, zone)?.iso, 'dateTime');
  return time === undefined ? kept(text, 'DTM') : { element: { valueDateTime: time } };
}

function valued(name: string, value: JsonObject | string | undefined): Value {
  return value === undefined ? NOTHING : { element: { [name]: value } };
}

/**
 * Returns a value kept as text.
 * @param type the type that it does not fit, or that has no element of its own
 */
function kept(text: string, type: string): Value {
  if (text === '') return NOTHING;
  return { element: { valueString: text }, warning: `its value is kept as text: it is not a valid ${type}` };
}
