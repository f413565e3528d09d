/**
 * Adds elements that the IPS profiles require but that a valid R4 resource may lack. HL7's data-absent-reason marks them as
 * unknown, as the guide requires: https://hl7.org/fhir/uv/ips/STU2/Empty-Sections-and-Missing-Data.html
 */
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { codes, objects } from '../../fhir/parts.ts';
import type { SectionName } from './section.ts';
import type { Source } from './source.ts';

/** HL7's extension for an element whose value is unknown. */
export const UNKNOWN = {
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }],
};
const NAME = [{ _text: UNKNOWN }];

/**
 * Returns the members that a resource lacks, by name; none if it has everything that its profile requires.
 * @param section the resource's section; undefined if other resources only refer to it
 */
export function missingMembers(
  { type, value }: Pick<Source, 'type' | 'value'>,
  section: SectionName | undefined,
): JsonObject {
  const missing: JsonObject = {};
  const element = (name: string): void => {
    if (value[name] === undefined) missing[name] = UNKNOWN;
  };
  const primitive = (name: string): void => {
    if (value[name] === undefined && value[`_${name}`] === undefined) missing[`_${name}`] = UNKNOWN;
  };
  const requireOne = (name: string): void => {
    if (!Object.keys(value).some((key) => key.startsWith(name) || key.startsWith(`_${name}`))) {
      missing[`_${name}DateTime`] = UNKNOWN;
    }
  };
  switch (type) {
    case 'Patient':
      if (value.name === undefined) missing.name = NAME;
      primitive('birthDate');
      break;
    case 'AllergyIntolerance':
    case 'Condition':
    case 'Medication':
      element('code');
      break;
    case 'MedicationStatement':
      requireOne('effective');
      break;
    case 'Procedure':
      element('code');
      requireOne('performed');
      break;
    case 'DiagnosticReport':
      requireOne('effective');
      break;
    case 'Specimen':
      element('type');
      break;
    case 'Organization':
      primitive('name');
      break;
    case 'Practitioner':
      if (value.name === undefined) missing.name = NAME;
      break;
    case 'Observation':
      requireOne('effective');
      if (isResult(value) && (section ?? 'results') === 'results' && value.performer === undefined)
        missing.performer = [UNKNOWN];
      if (isEmpty(value)) missing.dataAbsentReason = { coding: [NOT_KNOWN] };
      break;
  }
  return missing;
}

const NOT_KNOWN = {
  system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason',
  code: 'unknown',
  display: 'Unknown',
};

/** Returns whether the profile for laboratory or radiology results applies. */
function isResult({ category }: JsonObject): boolean {
  return codes(category).some((code) => code === 'laboratory' || code === 'imaging');
}

/**
 * Returns whether an Observation has no value, no parts and no reason for lacking them: ips-2 for laboratory results, vs-2 for
 * vital signs.
 */
function isEmpty(value: JsonObject): boolean {
  return (
    !Object.keys(value).some((key) => key.startsWith('value') || key.startsWith('_value')) &&
    value.component === undefined &&
    value.hasMember === undefined &&
    value.dataAbsentReason === undefined
  );
}

/** Returns a Patient or Practitioner in which each name either has text or is marked as unknown: ips-pat-1. */
export function withNames(source: Source): Source {
  const value = requireName(source.type, source.value);
  return value === source.value ? source : { ...source, value, body: printJson(value) };
}

function requireName(type: string, value: JsonObject): JsonObject {
  if (type !== 'Patient' && type !== 'Practitioner') return value;
  const names = objects(value.name);
  const isNamed = (name: JsonObject): boolean =>
    ['family', 'given', 'text', '_family', '_given', '_text'].some((part) => name[part] !== undefined);
  if (names.every(isNamed)) return value;
  return { ...value, name: names.map((name) => (isNamed(name) ? name : { ...name, _text: UNKNOWN })) };
}

/**
 * Returns a resource whose contained resources have the elements that their profiles require, because the target of a
 * reference must conform to its profile. A contained Observation without a subject gets its container's subject.
 */
export function withContained(source: Source): Source {
  if (!source.body.includes('"contained":[')) return source;
  const { value } = parseJson(source.body);
  if (!isObject(value)) return source;
  let completed = false;
  const contained = objects(value.contained).map((resource) => {
    const type = String(resource.resourceType);
    const whole = requireName(type, resource);
    const missing = missingMembers({ type, value: whole }, undefined);
    if (type === 'Observation' && whole.subject === undefined && isObject(value.subject))
      missing.subject = value.subject;
    if (whole === resource && Object.keys(missing).length === 0) return resource;
    completed = true;
    return { ...whole, ...missing };
  });
  return completed ? { ...source, body: printJson({ ...value, contained }) } : source;
}
