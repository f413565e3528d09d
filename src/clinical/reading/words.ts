/** Formats FHIR's data types as text for narratives. */

import { first, objects, text } from '#src/fhir/parts.ts';
import { isNumber, type Json, type JsonObject } from '#src/shared/json.ts';
import { nameConcept } from './name.ts';

/** Returns a quantity with its comparator and unit. */
export function quantity(value: Json | undefined): string | undefined {
  const { value: number, comparator, unit, code } = first(value) ?? {};
  if (!isNumber(number)) return undefined;
  return [`${text(comparator) ?? ''}${number}`, text(unit) ?? text(code)].filter(Boolean).join(' ');
}

/** Returns a date or time as it was recorded, to the minute. */
export function moment(value: Json | undefined): string | undefined {
  const [, day, minute = '', zone = ''] =
    /^([^T]+)(?:T(\d\d:\d\d)(?::[\d.]+)?(.*))?$/.exec(text(value) ?? '') ?? [];
  if (day === undefined) return undefined;
  return minute === '' ? day : `${day} ${minute}${zone === 'Z' ? ' UTC' : zone}`;
}

/** Returns a period, either end of which may be open. */
export function period(value: Json | undefined): string | undefined {
  const { start, end } = first(value) ?? {};
  const [from, to] = [moment(start), moment(end)];
  if (from === undefined) return to === undefined ? undefined : `until ${to}`;
  return to === undefined ? `since ${from}` : `${from} – ${to}`;
}

function range(value: Json | undefined): string | undefined {
  const { low, high } = first(value) ?? {};
  const [from, to] = [quantity(low), quantity(high)];
  if (from !== undefined && to !== undefined) return `${from} – ${to}`;
  if (from !== undefined) return `≥ ${from}`;
  return to === undefined ? undefined : `≤ ${to}`;
}

/** Returns the reference ranges of an Observation or component. */
export function referenceRange(value: Json | undefined): string | undefined {
  return joined(objects(value).map((each) => text(each.text) ?? range(each)));
}

/** Returns the text of a choice element in any of its types: `choice(observation, 'value')`. */
export function choice(resource: JsonObject, name: string): string | undefined {
  const key = Object.keys(resource).find(
    (each) => each.startsWith(name) && isUpper(each.charCodeAt(name.length)),
  );
  if (key === undefined) return undefined;
  const value = resource[key];
  switch (key.slice(name.length)) {
    case 'CodeableConcept':
      return nameConcept(value);
    case 'Quantity':
    case 'Age':
    case 'Duration':
      return quantity(value);
    case 'DateTime':
    case 'Date':
    case 'Instant':
      return moment(value);
    case 'Period':
      return period(value);
    case 'Range':
      return range(value);
    case 'Ratio': {
      const { numerator, denominator } = first(value) ?? {};
      return joined([quantity(numerator), quantity(denominator)], ' / ');
    }
    case 'SampledData':
      return 'a series of samples';
    case 'Timing':
      return timing(value);
    default:
      return value === undefined || typeof value === 'object' ? undefined : String(value);
  }
}

/** Returns whether a character code is that of an upper-case letter, with which the name of a type begins. */
function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

function timing(value: Json | undefined): string | undefined {
  const { code, repeat, event } = first(value) ?? {};
  const { frequency, period: every, periodUnit, boundsPeriod } = first(repeat) ?? {};
  const often =
    isNumber(frequency) && isNumber(every)
      ? `${frequency} × every ${every} ${text(periodUnit) ?? ''}`.trim()
      : undefined;
  const events = Array.isArray(event) ? event.map(moment) : [];
  return joined([nameConcept(code) ?? often, period(boundsPeriod), ...events]);
}

/** Returns the text of a Dosage: how a medication is taken. */
export function dosage(value: Json | undefined): string | undefined {
  return joined(
    objects(value).map((each) => {
      const shown = text(each.text) ?? text(each.patientInstruction);
      if (shown !== undefined) return shown;
      const { doseAndRate } = each;
      const dose = joined(objects(doseAndRate).map((rate) => choice(rate, 'dose')));
      const needed = each.asNeededBoolean === true ? 'as needed' : nameConcept(each.asNeededCodeableConcept);
      return joined([dose, timing(each.timing), nameConcept(each.route), needed]);
    }),
    '; ',
  );
}

/** Returns the text of Annotations. */
export function notes(value: Json | undefined): string | undefined {
  return joined(
    objects(value).map((note) => text(note.text)),
    ' ',
  );
}

/** Returns the given texts joined, without the missing ones; undefined if there are none. */
export function joined(parts: readonly (string | undefined)[], separator = ', '): string | undefined {
  const there = parts.filter((part) => part !== undefined && part !== '');
  return there.length === 0 ? undefined : there.join(separator);
}
