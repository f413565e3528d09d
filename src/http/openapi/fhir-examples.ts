/**
 * Lists the values with which `/docs` prefills requests to the FHIR interface. Once the ids are filled in, every request
 * succeeds without further changes.
 */
import type { Part } from './schemas.ts';

/** Placeholder for the id in the URL; the documentation page replaces it. */
export const ID_OF_URL = 'id-of-the-url';

const PATIENT = {
  resourceType: 'Patient',
  identifier: [{ system: 'https://example.org/patients', value: 'A-17' }],
  name: [{ family: 'Lind', given: ['Nora'] }],
  gender: 'female',
  birthDate: '1961-05-14',
};
/** For conditional requests: this identifier finds exactly one Patient. */
const CONDITION = { identifier: 'https://example.org/patients|B-23' };
const NEW_PATIENT_URL = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a';

const TRANSACTION = {
  resourceType: 'Bundle',
  type: 'transaction',
  entry: [
    { fullUrl: NEW_PATIENT_URL, resource: PATIENT, request: { method: 'POST', url: 'Patient' } },
    {
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code: '29463-7', display: 'Body weight' }] },
        subject: { reference: NEW_PATIENT_URL },
        effectiveDateTime: '2026-03-02T09:30:00Z',
        valueQuantity: { value: 64.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
      },
      request: { method: 'POST', url: 'Observation' },
    },
  ],
};
const JSON_PATCH = [{ op: 'add', path: '/gender', value: 'other' }];
const FHIRPATH_PATCH = {
  resourceType: 'Parameters',
  parameter: [
    {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: 'Patient.gender' },
        { name: 'value', valueCode: 'other' },
      ],
    },
  ],
};

/** Search criteria, by path below the base. Paths that aren't listed use `EVERYTHING`. */
const CRITERIA: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/{resource_type}': { name: 'lind' },
  '/{resource_type}/_search': { name: 'lind' },
  '/CodeSystem': { status: 'active' },
  '/ValueSet': { status: 'active' },
  '/ConceptMap': { status: 'active' },
};
const EVERYTHING = { _lastUpdated: 'gt2020-01-01' };

const GENDERS = 'http://hl7.org/fhir/administrative-gender';
const GENDER_SET = 'http://hl7.org/fhir/ValueSet/administrative-gender';
const ATC = 'http://www.whocc.no/atc';

/** Inputs for type-level operations, by the names of the operation and the type. Each value is preceded by its FHIR type. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, readonly [type: string, value: string]>>>> = {
  'summary Patient': { identifier: ['String', CONDITION.identifier] },
  'lookup CodeSystem': { code: ['Code', '8867-4'], system: ['Uri', 'http://loinc.org'] },
  'subsumes CodeSystem': { codeA: ['Code', 'A10'], codeB: ['Code', 'A10BA02'], system: ['Uri', ATC] },
  'validate-code CodeSystem': { url: ['Uri', 'http://loinc.org'], code: ['Code', '8867-4'] },
  'expand ValueSet': { url: ['Uri', GENDER_SET] },
  'validate-code ValueSet': { url: ['Uri', GENDER_SET], code: ['Code', 'female'], system: ['Uri', GENDERS] },
  'translate ConceptMap': { code: ['Code', 'female'], system: ['Uri', GENDERS] },
};

/**
 * Returns the criteria that prefill a request with the given path and method.
 * @param path below the base
 */
export function criteriaExample(path: string, method: string): Readonly<Record<string, string>> {
  if (path.endsWith('/_search') && method === 'POST') return {};
  if (path === '/{resource_type}' && method !== 'GET') return CONDITION;
  return CRITERIA[path] ?? EVERYTHING;
}

/**
 * Returns the fields that prefill a search form.
 * @param path below the base
 */
export function formExample(path: string): Readonly<Record<string, string>> {
  return CRITERIA[path] ?? EVERYTHING;
}

/** Returns the value that prefills an operation's query parameter; undefined if the parameter stays empty. */
export function inputExample(
  operation: string,
  path: string,
  method: string,
  name: string,
): string | undefined {
  return method === 'GET' ? findInputs(operation, path)[name]?.[1] : undefined;
}

function findInputs(operation: string, path: string) {
  const [, type = ''] = path.split('/');
  const inputs = INPUTS[`${operation} ${type}`] ?? {};
  if (!path.includes('{rid}')) return inputs;
  // An operation on an instance doesn't need the instance's URL.
  const { url: _, identifier: __, ...others } = inputs;
  return others;
}

/**
 * Returns the bodies that prefill a request, by media type.
 * @param operation the operation's name, without `$`; undefined for an interaction.
 */
export function bodyExamples(
  path: string,
  method: string,
  operation?: string,
): Readonly<Record<string, unknown>> {
  const fhir = (example: unknown): Part => ({ 'application/fhir+json': example });
  if (operation === 'validate') return fhir(PATIENT);
  if (operation !== undefined) {
    const parameter = Object.entries(findInputs(operation, path)).map(([name, [type, value]]) => ({
      name,
      [`value${type}`]: value,
    }));
    return fhir({ resourceType: 'Parameters', ...(parameter.length === 0 ? {} : { parameter }) });
  }
  if (path === '') return fhir(TRANSACTION);
  if (method === 'PATCH') return { 'application/json-patch+json': JSON_PATCH, ...fhir(FHIRPATH_PATCH) };
  if (method !== 'PUT') return fhir(PATIENT);
  if (path.includes('{rid}')) return fhir({ ...PATIENT, id: ID_OF_URL });
  const [system, value] = CONDITION.identifier.split('|');
  return fhir({ ...PATIENT, identifier: [{ system, value }] });
}
