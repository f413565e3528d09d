/** Returns the values of Observations as text and as numbers. */

import { nameCoded } from '#src/clinical/reading/names/name-code.ts';
import { pressureText } from '#src/clinical/reading/numbers/quantity.ts';
import { findPressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { choice } from '#src/clinical/reading/words.ts';
import { loincCodes, objects, text } from '#src/fhir/parts.ts';
import { isNumber, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { inLine } from './fact.ts';
import { nameOr } from './reading.ts';

/** Returns a value as text; undefined if there is none. Blood pressure is written as `131/82 mmHg`. */
export function valueIn(value: JsonObject): string | undefined {
  const own = choice(value, 'value');
  if (own !== undefined) return inLine(own);
  const components = objects(value.component);
  const pressure = pressureText(components);
  if (pressure !== undefined) return inLine(pressure);
  const ordered = systolicFirst(components, ({ code }) => findPressure(loincCodes(code)));
  if (ordered.every((component) => choice(component, 'value') === undefined)) return undefined;
  const said = ordered.flatMap((component) => {
    const shown = choice(component, 'value') ?? nameCoded('en', component.dataAbsentReason, 'absent');
    return shown === undefined ? [] : [`${nameOr(component.code, 'part')} ${shown}`];
  });
  return inLine(said.join(', '));
}

/**
 * Returns a measured value's unit as it appears in the result of `valueIn`: the words after the number; empty if the value is
 * a word or a code.
 */
export function unitIn(value: JsonObject): string {
  const shown = valueIn(value) ?? '';
  const isPressure = choice(value, 'value') === undefined && /^\d[\d.]*\/\d/.test(shown);
  return value.valueQuantity !== undefined || isPressure ? shown.split(' ').slice(1).join(' ') : '';
}

/**
 * Returns a number and its unit; undefined for values that aren't numbers, values with a comparator, and numbers beyond
 * JavaScript's range.
 */
export function numberIn({
  valueQuantity,
  valueInteger,
}: JsonObject): { readonly value: number; readonly unit: string } | undefined {
  const whole = finite(valueInteger);
  if (whole !== undefined) return { value: whole, unit: '' };
  const { value, unit, code, comparator } = objects(valueQuantity)[0] ?? {};
  const number = finite(value);
  if (number === undefined || comparator !== undefined) return undefined;
  return { value: number, unit: text(code) ?? text(unit) ?? '' };
}

/** Returns a finite number, parsed from its literal, because JavaScript would turn a number such as 1e-400 into 0. */
function finite(said: Json | undefined): number | undefined {
  const number = isNumber(said) ? Number(String(said)) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
