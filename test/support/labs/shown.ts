/** Prints a report's result in short lines, for tables of messages and their results. */
import type { Labs } from '#src/labs/labs.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { listIn, objectIn, textIn } from '#src/v1/elements.ts';

/** Returns a line for each resource, then `unmapped` and `warnings`. */
export function shownLabs({ drafts, unmapped, warnings }: Labs): string[] {
  return [
    ...drafts.map(({ resource }) => (SHOWN[String(resource.resourceType)] ?? String)(resource)),
    ...unmapped.map((one) => `unmapped: ${one}`),
    ...warnings.map((one) => `warning: ${one}`),
  ];
}

const SHOWN: Readonly<Record<string, (resource: JsonObject) => string>> = {
  Observation: (one) =>
    parts(
      'OBS',
      concept(one.code),
      value(one),
      text(one.status),
      text(one.effectiveDateTime),
      ...listIn(one.interpretation).map((flag) => `flag ${concept(flag)}`),
      ...listIn(one.referenceRange).map(range),
      ...listIn(one.note).map(({ text: note }) => `note ${quoted(note)}`),
      ...listIn(one.performer).map(({ display }) => `by ${text(display)}`),
      one.method === undefined ? '' : `method ${concept(one.method)}`,
      one.bodySite === undefined ? '' : `at ${concept(one.bodySite)}`,
      one.device === undefined ? '' : `device ${text(objectIn(one.device).display)}`,
      one.dataAbsentReason === undefined ? '' : 'absent',
      one.specimen === undefined ? '' : 'of specimen',
      listIn(one.derivedFrom).length === 0 ? '' : 'of parent',
    ),
  DiagnosticReport: (one) =>
    parts(
      'REPORT',
      concept(one.code),
      text(one.status),
      listIn(one.category).map(concept).join(),
      text(one.effectiveDateTime),
      `${listIn(one.result).length} results`,
      listIn(one.specimen).length === 0 ? '' : `${listIn(one.specimen).length} specimens`,
      ...listIn(one.identifier)
        .slice(1)
        .map(({ value: number }) => `filler ${text(number)}`),
      ...listIn(one.basedOn).map(({ identifier }) => `placer ${text(objectIn(identifier).value)}`),
      ...listIn(one.resultsInterpreter).map(({ display }) => `by ${text(display)}`),
      ...listIn(one.extension).map(({ valueAnnotation }) => `note ${quoted(objectIn(valueAnnotation).text)}`),
    ),
  Specimen: (one) => {
    const { collectedDateTime, collectedPeriod, bodySite } = objectIn(one.collection);
    const { start, end } = objectIn(collectedPeriod);
    return parts(
      'SPECIMEN',
      concept(one.type),
      text(collectedDateTime),
      start === undefined ? '' : `${text(start)} to ${text(end)}`,
      bodySite === undefined ? '' : `at ${concept(bodySite)}`,
      one.receivedTime === undefined ? '' : `received ${text(one.receivedTime)}`,
      ...listIn(one.condition).map((condition) => `condition ${concept(condition)}`),
    );
  },
  DocumentReference: (one) =>
    parts(
      'DOCUMENT',
      text(objectIn(one.type).text),
      text(one.docStatus),
      ...listIn(one.content).map(({ attachment }) => {
        const { contentType, data, size, url } = objectIn(attachment);
        const bytes = Buffer.from(text(data), 'base64').toString('utf8').slice(0, 20);
        return url === undefined
          ? `${text(contentType)} ${size} ${quoted(bytes)}`
          : `${text(contentType)} ${text(url)}`;
      }),
    ),
};

function parts(...all: readonly string[]): string {
  return all.filter((part) => part !== '').join(' | ');
}

const text = (value: Json | undefined): string => textIn(value) ?? '';
const quoted = (value: Json | undefined): string => JSON.stringify(value ?? '');

function concept(value: Json | undefined): string {
  const { coding, text: words } = objectIn(value);
  const codes = listIn(coding).map(({ system, code }) => `${short(text(system))}${text(code)}`);
  const [only] = codes;
  const said = text(words);
  return [...codes, ...(said === '' || only === said ? [] : [quoted(said)])].join(' ');
}

const SHORT: readonly (readonly [string, string])[] = [
  ['http://loinc.org', ''],
  ['http://snomed.info/sct', 'sct:'],
  ['http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', ''],
  ['http://terminology.hl7.org/CodeSystem/v2-0074', ''],
  ['https://annal.dev/fhir/local-code/', 'local:'],
];

function short(system: string): string {
  if (system === '') return '?:';
  for (const [long, name] of SHORT)
    if (system.startsWith(long)) return long.endsWith('/') ? `${name}${system.slice(long.length)}:` : name;
  return `${system}:`;
}

function quantity(value: Json | undefined): string {
  const { comparator, value: number, unit, code } = objectIn(value);
  const words = [`${text(comparator)}${String(number)}`, text(unit)];
  if (code !== undefined && code !== unit) words.push(`=${text(code)}`);
  if (code === undefined && unit !== undefined) words.push('(no UCUM)');
  return words.filter((word) => word !== '').join(' ');
}

function value(one: JsonObject): string {
  const components = listIn(one.component).map(value);
  if (components.length > 0) return `[${components.join(' + ')}]`;
  if (one.valueQuantity !== undefined) return quantity(one.valueQuantity);
  if (one.valueString !== undefined) return quoted(one.valueString);
  if (one.valueCodeableConcept !== undefined) return `code ${concept(one.valueCodeableConcept)}`;
  if (one.valueDateTime !== undefined) return text(one.valueDateTime);
  if (one.valueTime !== undefined) return `time ${text(one.valueTime)}`;
  if (one.valueBoolean !== undefined) return String(one.valueBoolean);
  const { low, high } = objectIn(one.valueRange);
  if (one.valueRange !== undefined) return `${quantity(low)} to ${quantity(high)}`;
  const { numerator, denominator } = objectIn(one.valueRatio);
  if (one.valueRatio !== undefined) return `${quantity(numerator)} : ${quantity(denominator)}`;
  return 'no value';
}

function range(one: JsonObject): string {
  const ends = [one.low, one.high].map((end) => (end === undefined ? '' : String(objectIn(end).value)));
  return `range ${ends.join('..') === '..' ? 'in words' : ends.join('..')} ${quoted(one.text)}`;
}
