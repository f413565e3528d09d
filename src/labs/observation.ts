/** Converts a result (OBX) to an Observation: https://hl7.org/fhir/R4/observation.html */

import { cut } from '#src/shared/cut.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { toUcum, unitKept } from '../fhir/units/spelled-units.ts';
import { listIn, present, UCUM } from '../v1/elements.ts';
import { conceptIn, readCodes } from './codes.ts';
import type { Field, Segment } from './hl7v2/message.ts';
import { readDay, readMoment } from './hl7v2/time.ts';
import { chooseUnit } from './international.ts';
import { makeInterpretation } from './interpretation.ts';
import { makeIdentifier } from './labs.ts';
import type { Result } from './orders.ts';
import { makeRange, unreadRange } from './range.ts';
import type { Reading } from './reading.ts';
import { observationStatus } from './status.ts';
import { knownSystem } from './systems.ts';
import { fhirTime } from './times.ts';
import { isText, type Value, type ValueContext, valueIn } from './value.ts';

/** Properties of a result that come from its order. */
export interface OfOrder {
  readonly key: string;
  readonly effective: string | undefined;
  readonly issued: string | undefined;
  readonly category: string;
  readonly status: string;
  readonly specimen: string | undefined;
  /** References to the results from which this result was derived. */
  readonly derivedFrom: readonly string[];
}

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const ABSENT = 'http://terminology.hl7.org/CodeSystem/data-absent-reason';

/** Returns the Observation, and adds notes about values that can't be read. */
export function makeObservation(result: Result, of: OfOrder, reading: Reading): JsonObject {
  const { obx, more, notes } = result;
  const { subject, sender, notes: told } = reading;
  const code = readCodes(obx.first(3), sender);
  if (code === undefined) told.warn(obx.place, 'OBX-3 is empty: the result has no code');
  if (code?.fault !== undefined) told.warn(obx.place, code.fault);
  if (code?.loinc !== true) told.unmapped(code?.label ?? obx.place);
  const unit = obx.first(6);
  const written = powerIn(unit) ?? (unit.part(1) || unit.part(2) || unit.part(9));
  const ucum = ucumIn(unit) ?? chooseUnit(toUcum(written), code?.concept);
  if (written !== '' && ucum === undefined) told.warn(obx.place, unitKept(written));
  const type = obx.part(2).toUpperCase();
  const values = { type, unit: written, code: ucum, sender, zone: reading.zone };
  const elements = [obx, ...more].flatMap((segment) => segment.all(5));
  const value = oneValue(elements, values, code?.concept ?? { text: obx.place });
  if (value.warning !== undefined) told.warn(obx.place, value.warning);
  const range = obx
    .all(7)
    .map(({ whole }) => whole)
    .filter((text) => text !== '')
    .join('; ');
  const ranged = range === '' ? {} : { referenceRange: [makeRange(range, written, ucum)] };
  const unread = unreadRange({ ...value.element, ...ranged });
  if (unread !== undefined) told.warn(obx.place, unread);
  const flags = obx
    .all(8)
    .map((flag) => flag.part(1) || flag.part(2))
    .filter((flag) => flag !== '');
  // A flag written after the value, unless OBX-8 repeats it.
  const behind = listIn(value.element.interpretation).filter(({ text }) => !flags.includes(String(text)));
  const texts = joinNotes(notes);
  const letter = obx.part(11);
  const status = chooseStatus(obx, letter, of.status, reading);
  return {
    resourceType: 'Observation',
    identifier: makeIdentifiers(of.key, obx),
    status,
    category: [{ coding: [{ system: CATEGORY, code: of.category }] }],
    code: code?.concept ?? { text: obx.place },
    subject: { reference: subject },
    ...present({ effectiveDateTime: of.effective, issued: of.issued }),
    ...listed('performer', readPerformers(obx)),
    ...value.element,
    ...(letter.toUpperCase() === 'N' && Object.keys(value.element).length === 0
      ? { dataAbsentReason: { coding: [{ system: ABSENT, code: 'not-asked' }] } }
      : {}),
    ...listed('interpretation', [...flags.map(makeInterpretation), ...behind]),
    ...(texts === undefined ? {} : { note: [{ text: texts }] }),
    ...present({ bodySite: conceptIn(obx.first(20), sender), method: conceptIn(obx.first(17), sender) }),
    ...(of.specimen === undefined ? {} : { specimen: { reference: of.specimen } }),
    ...displayed('device', obx.first(18)),
    ...ranged,
    ...listed(
      'derivedFrom',
      of.derivedFrom.map((reference) => ({ reference })),
    ),
  };
}

/**
 * Returns the unit if it is a power such as `10^9/L`, which is often sent without escaping, although `^` separates components.
 */
function powerIn(unit: Field): string | undefined {
  const [base, rest] = [unit.part(1), unit.part(2)];
  return /^[xX*]?10$/.test(base) && /^\d{1,2}\/\S+$/.test(rest) ? `${base}^${rest}` : undefined;
}

/**
 * Returns the code from the triplet (the first or the alternate) that names UCUM as its system; undefined if neither does, or
 * if the code isn't a unit.
 */
function ucumIn(unit: Field): string | undefined {
  const named = [1, 4, 10].find((code) => knownSystem(unit.part(code + 2)) === UCUM);
  return named === undefined ? undefined : toUcum(unit.part(named), true);
}

/** Returns one value for several repetitions: lines of text are joined; repetitions of other types become components. */
function oneValue(fields: readonly Field[], context: ValueContext, code: JsonObject): Value {
  const [first] = fields;
  if (first === undefined) return { element: {} };
  if (fields.length === 1) return valueIn(first, context);
  if (isText(context.type)) {
    const text = fields
      .map(({ whole }) => whole)
      .join('\n')
      .trim();
    return { element: text === '' ? {} : { valueString: text } };
  }
  const values = fields.map((field) => valueIn(field, context));
  const some = values.filter(({ element }) => Object.keys(element).length > 0);
  const warning = values.find((value) => value.warning !== undefined)?.warning;
  const [only, another] = some;
  if (another === undefined) return only ?? { element: {} };
  return {
    element: { component: some.map(({ element }): Json => ({ code, ...element })) },
    ...(warning === undefined ? {} : { warning }),
  };
}

function chooseStatus(obx: Segment, letter: string, ofOrder: string, { notes }: Reading): string {
  if (letter === '') return ofOrder;
  const status = observationStatus(letter);
  if (status !== undefined) return status;
  notes.warn(obx.place, `OBX-11 ${cut(letter, 10)} is not a status of table 0085`);
  return 'unknown';
}

/** Returns identifiers for the key and for the result's own instance identifier (OBX-21). */
function makeIdentifiers(key: string, obx: Segment): Json[] {
  const instance = obx.part(21);
  return [makeIdentifier(key), ...(instance === '' ? [] : [{ value: instance }])];
}

/** Returns the names of the laboratory (OBX-23, otherwise OBX-15) and of the responsible observers (OBX-16). */
function readPerformers(obx: Segment): JsonObject[] {
  const place = obx.part(23) || obx.part(15, 2) || obx.part(15);
  const people = obx.all(16).map(personName);
  return [place, ...people].filter((display) => display !== '').map((display) => ({ display }));
}

/** Returns a person's name (XCN), or the number if the name is missing. */
export function personName(person: Field): string {
  const name = [person.part(6), person.part(3), person.part(4), person.part(2)];
  return name.filter((part) => part !== '').join(' ') || person.part(1);
}

/** Returns comments as one text, one line each. */
export function joinNotes(notes: readonly Segment[]): string | undefined {
  const lines = notes.flatMap((note) => note.all(3).map(({ whole }) => whole));
  const text = lines.join('\n').trim();
  return text === '' ? undefined : text;
}

function displayed(name: string, field: Field): JsonObject {
  const { text } = field;
  return text === '' ? {} : { [name]: { display: text } };
}

/** Returns an object with a list as its only member; an empty object if the list is empty. */
export function listed(name: string, items: readonly JsonObject[]): JsonObject {
  return items.length === 0 ? {} : { [name]: [...items] };
}

/** Returns a time from a segment; adds a note if the time can't be read. */
export function timeIn(
  segment: Segment,
  field: number,
  reading: Reading,
  raw = segment.part(field),
): string | undefined {
  if (raw === '') return undefined;
  const moment = readMoment(raw, reading.zone);
  const time = fhirTime(moment?.iso, 'dateTime');
  if (time === undefined) {
    const day = fhirTime(readDay(raw), 'dateTime');
    const said = `${segment.name}-${field} is not a valid time: ${cut(raw, 40)}`;
    reading.notes.warn(segment.place, day === undefined ? said : `${said}; its date is kept`);
    return day;
  }
  if (moment?.skipped === true)
    reading.notes.warn(
      segment.place,
      `${segment.name}-${field} doesn't exist in the time zone: ${cut(raw, 40)} falls where the clocks go forward`,
    );
  if (moment?.assumed === true && reading.zone === undefined)
    reading.notes.warn('', 'times without an offset were read as UTC');
  return time;
}
