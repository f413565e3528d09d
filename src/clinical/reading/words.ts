/** Formats FHIR data types as text for narratives. */
import { codes, first, objects, text } from '#src/fhir/parts.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json-value.ts';
import { ageIn, atAge } from './changes.ts';
import { dosesInWords } from './doses/dose.ts';
import type { DoseStyle } from './doses/dose-words.ts';
import { timingWords } from './doses/timing.ts';
import { nameConcept } from './names/name.ts';
import { quantityText, rangeText, ratioText, readMeasured } from './numbers/quantity.ts';

/**
 * Returns a quantity for readers.
 * @param holder the Observation or component that has this value
 */
export function quantity(value: Json | undefined, holder?: JsonObject): string | undefined {
  const of = first(value);
  // Only decimals are rounded.
  const isDecimal = holder !== undefined && /[.eE]/.test(String(of?.value));
  return quantityText(of, isDecimal ? readMeasured(holder) : {});
}

/** Returns a date or time as recorded, to the minute. */
export function moment(value: Json | undefined): string | undefined {
  const [, day, minute = '', zone = ''] =
    /^([^T]+)(?:T(\d\d:\d\d)(?::[\d.]+)?(.*))?$/.exec(text(value) ?? '') ?? [];
  if (day === undefined) return undefined;
  return minute === '' ? day : `${day} ${minute}${zone === 'Z' ? ' UTC' : zone}`;
}

/** Returns a date-time's day as written; a less precise date is returned unchanged. */
export function day(value: Json | undefined): string | undefined {
  return text(value)?.split('T', 1)[0];
}

/**
 * Returns a period, which may have no start or no end.
 * @param dated formats its ends
 */
export function period(value: Json | undefined, dated = moment): string | undefined {
  const { start, end } = first(value) ?? {};
  const [from, to] = [dated(start), dated(end)];
  if (from === undefined) return to === undefined ? undefined : `until ${to}`;
  if (from === to) return from;
  return to === undefined ? `since ${from}` : `${from} – ${to}`;
}

/** Returns an Observation's or component's reference ranges: `2 – 3 (therapeutic)`, `12 – 16 g/dL (female)`. */
export function referenceRange(value: Json | undefined): string | undefined {
  return joined(
    objects(value).map((each) => {
      const said = text(each.text) ?? rangeText(each);
      const whose = said === undefined ? undefined : joined([rangeMeaning(each), ...appliesTo(each)]);
      return joined([said, whose && `(${whose})`], ' ');
    }),
  );
}

/** Returns what a range means, unless it is the normal range. */
function rangeMeaning({ type }: JsonObject): string | undefined {
  return codes(type).includes('normal') ? undefined : nameConcept(type);
}

/** Returns the people that a range applies to: their sex or other groups, and their age. */
function appliesTo({ appliesTo: groups, age }: JsonObject): (string | undefined)[] {
  const years = rangeText(first(age))?.replace(/ a$/, ' years');
  return [nameConcept(groups), years && `age ${years}`];
}

/**
 * Returns the text of a choice element, whatever its type is: `choice(observation, 'value')`.
 * @param dated formats dates and the ends of periods
 */
export function choice(resource: JsonObject, name: string, dated = moment): string | undefined {
  let key: string | undefined;
  for (const each in resource)
    if (isUpper(each.charCodeAt(name.length)) && each.startsWith(name)) {
      key = each;
      break;
    }
  if (key === undefined) return undefined;
  const value = resource[key];
  const age = name === 'value' ? undefined : ageIn(resource, name);
  if (age !== undefined) return atAge(age);
  switch (key.slice(name.length)) {
    case 'CodeableConcept':
      return nameConcept(value);
    case 'Quantity':
    case 'Age':
    case 'Duration':
      return quantity(value, name === 'value' ? resource : undefined);
    case 'DateTime':
    case 'Date':
    case 'Instant':
      return dated(value);
    case 'Period':
      return period(value, dated);
    case 'Range':
      return rangeText(first(value));
    case 'Ratio':
      return ratioText(first(value));
    case 'SampledData':
      return 'a series of samples';
    case 'Timing':
      return timing(value);
    default:
      return value === undefined || typeof value === 'object' ? undefined : String(value);
  }
}

/** Returns whether a character code is an upper-case letter; the name of a type begins with one. */
function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

/** Writes doses in English, with the usual names for codes. */
const ENGLISH: DoseStyle = {
  lang: 'en',
  name: (concept) => (isObject(concept) ? nameConcept(concept) : undefined),
};

function timing(value: Json | undefined): string | undefined {
  const { rhythm, details } = timingWords(first(value), ENGLISH);
  return joined([rhythm, ...details]);
}

/** Returns how a medication is taken, in English. */
export function dosage(value: Json | undefined): string | undefined {
  return dosesInWords(value, ENGLISH);
}

/** Returns the text of Annotations. */
export function notes(value: Json | undefined): string | undefined {
  return joined(
    objects(value).map((note) => text(note.text)),
    ' ',
  );
}

/** Joins the texts that aren't missing; undefined if all are missing. */
export function joined(parts: readonly (string | undefined)[], separator = ', '): string | undefined {
  const there = parts.filter((part) => part !== undefined && part !== '');
  return there.length === 0 ? undefined : there.join(separator);
}
