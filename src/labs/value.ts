/**
 * Converts the values of results (OBX-2, OBX-5, OBX-6) to elements of an Observation: HL7 v2 chapter 2A,
 * https://hl7.org/fhir/R4/observation.html
 */

import type { JsonObject } from '#src/shared/json/json.ts';
import { toUcum } from '../fhir/units/spelled-units.ts';
import { codeText, conceptIn } from './codes.ts';
import type { Field } from './hl7v2/message.ts';
import { readClock, readMoment } from './hl7v2/time.ts';
import { makeInterpretation } from './interpretation.ts';
import { decimalIn, measuredIn, readComparator } from './numbers.ts';
import { makeQuantity } from './quantity.ts';
import { fhirTime } from './times.ts';
import type { Zone } from './zones.ts';

/** The context for reading values. */
export interface ValueContext {
  readonly type: string;
  /** As written. */
  readonly unit: string;
  /** In UCUM. */
  readonly code: string | undefined;
  readonly sender: string;
  /** Offset for times that have none. */
  readonly zone: string | Zone | undefined;
}

/** A value's element, and a warning if the value doesn't fit its declared type. */
export interface Value {
  /** Empty if there is no value. */
  readonly element: JsonObject;
  readonly warning?: string;
}

/** The unit of a number, as written and in UCUM. */
type Unit = Pick<ValueContext, 'unit' | 'code'>;

/** Matches a number and the flag after it: `7.2 H`, `7.2!`, `7.2 (L)`. */
const FLAGGED = /^(.*[\d\s])(?:(HH?|LL?|[*!])|\((HH?|LL?|[*!])\))$/s;
/** Matches text that begins like a number: `7.2?`, `1:80`, `*5`. */
const NUMBERLIKE = /^\W{0,3}\d/;
/** The maximum length of text that is parsed as a number with its unit. */
const LONGEST = 200;

const NOTHING: Value = { element: {} };
const TEXTS = new Set(['ST', 'TX', 'FT', '']);

/** Returns whether a value type is text; repetitions of text are lines of one value. */
export function isText(type: string): boolean {
  return TEXTS.has(type);
}

/** Returns the value of one repetition of a field. A value that doesn't fit its type is kept as text, with a warning. */
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
      const time = fhirTime(readClock(field.part(1)), 'time');
      return time === undefined ? kept(field.whole, 'TM') : { element: { valueTime: time } };
    }
    case 'NR':
      return range(field.part(1), field.part(2), field, context);
    case 'CQ': {
      const unit = field.part(2);
      return numeric(field.part(1), unit === '' ? context : { unit, code: toUcum(unit) });
    }
    default:
      return TEXTS.has(type) ? textual(field.whole, context) : kept(field.text, type);
  }
}

/** Returns the value of a text that may be a number. With a unit, `< 5` is a number; without a unit, `1` may be a name. */
export function textual(text: string, context: Unit): Value {
  const element = context.unit === '' ? undefined : quantified(text, context);
  return element === undefined ? worded(text, context) : { element };
}

/** Returns the value of a number, optionally with a comparator, such as `<5`. */
function numeric(text: string, context: Unit): Value {
  if (text === '') return NOTHING;
  const element = quantified(text, context);
  return element === undefined ? kept(text, 'NM', context.unit) : { element };
}

/** Returns the quantity in a text that is a number, optionally followed by the unit or a flag; undefined for any other text. */
function quantified(text: string, { unit, code }: Unit): JsonObject | undefined {
  if (text.length > LONGEST) return undefined;
  const whole = text.trim();
  const bare = withoutUnit(whole, unit);
  const measured = measuredIn(whole) ?? measuredIn(bare);
  if (measured !== undefined) return { valueQuantity: makeQuantity(measured, unit, code) };
  for (const each of [whole, bare]) {
    const [, before = '', flag, inBrackets = ''] = FLAGGED.exec(each) ?? [];
    const number = measuredIn(before) ?? measuredIn(withoutUnit(before.trim(), unit));
    if (number !== undefined)
      return {
        valueQuantity: makeQuantity(number, unit, code),
        interpretation: [flagged(flag ?? inBrackets)],
      };
  }
  return undefined;
}

/** Returns the concept for a flag that follows a number: `*` and `!` mark abnormal values. */
function flagged(flag: string): JsonObject {
  return { ...makeInterpretation(/[*!]/.test(flag) ? 'A' : flag), text: flag };
}

/** Returns the value of a text. If the text begins like a number, its unit is kept, and a warning is added. */
function worded(text: string, { unit }: Unit): Value {
  if (text === '') return NOTHING;
  const element = { valueString: withUnit(text, unit) };
  return unit === '' || !NUMBERLIKE.test(text)
    ? { element }
    : { element, warning: 'its value is kept as text, with the unit: it is not a number' };
}

function withoutUnit(text: string, unit: string): string {
  return unit !== '' && text.endsWith(unit) ? text.slice(0, -unit.length) : text;
}

function withUnit(text: string, unit: string): string {
  return unit === '' || !NUMBERLIKE.test(text) || text.includes(unit) ? text : `${text} ${unit}`;
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
  if (value === undefined) return kept(words, 'SN', context.unit);
  if (separator === '' && second === '') {
    const comparator = readComparator(sign);
    if (comparator !== undefined)
      return {
        element: { valueQuantity: makeQuantity({ comparator, value }, context.unit, context.code) },
      };
    if (sign === '' || sign === '=')
      return { element: { valueQuantity: makeQuantity({ value }, context.unit, context.code) } };
    return worded(words, context);
  }
  if (sign !== '' && sign !== '=') return worded(words, context);
  const other = decimalIn(second);
  if (separator === '-' && other !== undefined) return range(first, second, field, context);
  if ((separator === ':' || separator === '/') && other !== undefined)
    return { element: { valueRatio: { numerator: { value }, denominator: { value: other } } } };
  return worded(words, context);
}

function range(from: string, to: string, field: Field, { unit, code, type }: ValueContext): Value {
  const [low, high] = [decimalIn(from), decimalIn(to)];
  if (low === undefined && high === undefined) return kept(field.text, type, unit);
  if (Number(String(low)) > Number(String(high))) return kept(field.text, type, unit);
  return {
    element: {
      valueRange: {
        ...(low === undefined ? {} : { low: makeQuantity({ value: low }, unit, code) }),
        ...(high === undefined ? {} : { high: makeQuantity({ value: high }, unit, code) }),
      },
    },
  };
}

/** Returns a code from a table that the message doesn't name. */
function coded(text: string): Value {
  const code = codeText(text);
  return code === '' ? NOTHING : { element: { valueCodeableConcept: { coding: [{ code }], text: code } } };
}

function timed(text: string, zone: string | Zone | undefined): Value {
  if (text === '') return NOTHING;
  const time = fhirTime(readMoment(text, zone)?.iso, 'dateTime');
  return time === undefined ? kept(text, 'DTM') : { element: { valueDateTime: time } };
}

function valued(name: string, value: JsonObject | undefined): Value {
  return value === undefined ? NOTHING : { element: { [name]: value } };
}

/**
 * Returns a value that is kept as text.
 * @param type the type that the value doesn't fit, or a type for which there is no element
 * @param unit kept if the text begins like a number
 */
function kept(text: string, type: string, unit = ''): Value {
  if (text === '') return NOTHING;
  return {
    element: { valueString: withUnit(text, unit) },
    warning: `its value is kept as text: it is not a valid ${type}`,
  };
}
