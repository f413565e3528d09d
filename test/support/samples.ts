/**
 * Valid resources, for tests, of every type that clients can write. They contain decimals with trailing zeros, text beyond
 * ASCII, and extensions on resources and primitives. fast-check arbitraries vary them.
 */
import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { TYPES } from '#src/fhir/types.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';

/**
 * The 22 types that clients write: all types except terminology, and Provenance, which the service writes (clients may also
 * write it).
 */
export type WritableType = Exclude<
  keyof typeof TYPES,
  'CodeSystem' | 'ValueSet' | 'ConceptMap' | 'Provenance'
>;

/** The resources that a sample refers to, each as `Type/id`. References that aren't given are omitted. */
export interface SampleRefs {
  /** Required for everything in a record except the Patient itself. */
  readonly patient?: string;
  readonly practitioner?: string;
  readonly organization?: string;
  readonly location?: string;
  readonly encounter?: string;
}

/** The values that vary between samples of a type. */
export interface Variation {
  /** Text in the resource's identifier (or in a note) that tests recognise the resource by. */
  readonly marker: string;
  /** Text that isn't blank and doesn't contain control characters. */
  readonly text: string;
  /** A decimal as written. */
  readonly decimal: string;
  /** A date-time with an offset. */
  readonly time: string;
}

/** The markers' identifier system. */
export const MARKER_SYSTEM = 'urn:annal:test';

const DEFAULT: Variation = {
  marker: 'sample',
  text: 'Jürgen Ñandú 李小龍 👩‍⚕️ e\u0301',
  decimal: '1.50',
  time: '2024-02-29T23:59:59.999+01:00',
};

/** Returns the search that finds a resource by its marker, relative to the FHIR base. */
export function markerSearch(type: string, marker: string): string {
  return `/${type}?identifier=${encodeURIComponent(`${MARKER_SYSTEM}|${marker}`)}`;
}

type Make = (refs: SampleRefs, variation: Variation) => JsonObject;

const LOINC = 'http://loinc.org';
const CLINICAL = 'http://terminology.hl7.org/CodeSystem';

const concept = (text: string, system: string, code: string): JsonObject => ({
  coding: [{ system, code }],
  text,
});
const quantity = (decimal: string, unit = 'mg'): JsonObject => ({
  value: new LosslessNumber(decimal),
  unit,
  system: 'http://unitsofmeasure.org',
  code: unit,
});

/** Returns a member with a reference, or an empty object. */
function ref(name: string, reference: string | undefined): JsonObject {
  return reference === undefined ? {} : { [name]: { reference } };
}

/** Returns a member with a list of references, or an empty object. */
function refs(name: string, reference: string | undefined, wrap?: string): JsonObject {
  if (reference === undefined) return {};
  return { [name]: [wrap === undefined ? { reference } : { [wrap]: { reference } }] };
}

/** Returns the members that every sample begins with: a meta without profile, an extension with a decimal, the marker. */
function base(resourceType: WritableType, { marker, text, decimal }: Variation): JsonObject {
  return {
    resourceType,
    meta: { tag: [{ system: MARKER_SYSTEM, code: resourceType, display: text }] },
    language: 'en',
    extension: [
      { url: 'http://example.org/fhir/weight', valueDecimal: new LosslessNumber(decimal) },
      { url: 'http://example.org/fhir/nested', extension: [{ url: 'text', valueString: text }] },
    ],
    identifier: [{ system: MARKER_SYSTEM, value: marker }],
  };
}

const MAKERS: Readonly<Record<WritableType, Make>> = {
  Patient: (given, v) => ({
    ...base('Patient', v),
    active: true,
    name: [{ use: 'official', family: v.text, given: ['Ana', 'María'], _given: [null, noted(v.text)] }],
    telecom: [{ system: 'phone', value: '+41 79 123 45 67', rank: 1 }],
    gender: 'female',
    birthDate: '1970-03-30',
    _birthDate: {
      extension: [
        { url: 'http://hl7.org/fhir/StructureDefinition/patient-birthTime', valueDateTime: v.time },
      ],
    },
    deceasedBoolean: false,
    address: [{ line: ['Hauptstraße 1'], city: 'Zürich', country: 'CH', period: { start: '2001' } }],
    contact: [{ relationship: [{ text: 'Vater' }], name: { text: v.text } }],
    communication: [{ language: concept('Deutsch', 'urn:ietf:bcp:47', 'de-CH'), preferred: true }],
    ...refs('generalPractitioner', given.practitioner),
    ...ref('managingOrganization', given.organization),
  }),
  Observation: (given, v) => ({
    ...base('Observation', v),
    status: 'final',
    category: [concept('Vital Signs', `${CLINICAL}/observation-category`, 'vital-signs')],
    code: concept('Blood pressure', LOINC, '85354-9'),
    ...ref('subject', given.patient),
    ...ref('encounter', given.encounter),
    effectiveDateTime: v.time,
    ...refs('performer', given.practitioner),
    note: [{ text: v.text }],
    component: [
      { code: concept('Systolic', LOINC, '8480-6'), valueQuantity: quantity(v.decimal, 'mm[Hg]') },
      { code: concept('Comment', LOINC, '8251-1'), valueString: v.text },
    ],
  }),
  Condition: (given, v) => ({
    ...base('Condition', v),
    clinicalStatus: concept('Active', `${CLINICAL}/condition-clinical`, 'active'),
    verificationStatus: concept('Confirmed', `${CLINICAL}/condition-ver-status`, 'confirmed'),
    code: concept(v.text, 'http://hl7.org/fhir/sid/icd-10', 'I10'),
    ...ref('subject', given.patient),
    ...ref('encounter', given.encounter),
    onsetAge: {
      value: new LosslessNumber('40.50'),
      unit: 'a',
      system: 'http://unitsofmeasure.org',
      code: 'a',
    },
    recordedDate: v.time,
    ...ref('asserter', given.practitioner),
    stage: [{ summary: { text: v.text } }],
  }),
  MedicationStatement: (given, v) => ({
    ...base('MedicationStatement', v),
    status: 'active',
    medicationCodeableConcept: concept('Metformin', 'http://www.whocc.no/atc', 'A10BA02'),
    ...ref('subject', given.patient),
    effectivePeriod: { start: v.time },
    dosage: [dosage(v)],
  }),
  MedicationRequest: (given, v) => ({
    ...base('MedicationRequest', v),
    status: 'active',
    intent: 'order',
    medicationCodeableConcept: concept(v.text, 'http://www.whocc.no/atc', 'C09AA05'),
    ...ref('subject', given.patient),
    authoredOn: v.time,
    ...ref('requester', given.practitioner),
    dosageInstruction: [dosage(v)],
  }),
  AllergyIntolerance: (given, v) => ({
    ...base('AllergyIntolerance', v),
    clinicalStatus: concept('Active', `${CLINICAL}/allergyintolerance-clinical`, 'active'),
    verificationStatus: concept('Confirmed', `${CLINICAL}/allergyintolerance-verification`, 'confirmed'),
    type: 'allergy',
    category: ['food'],
    criticality: 'high',
    code: { text: v.text },
    ...ref('patient', given.patient),
    reaction: [{ manifestation: [{ text: 'hives' }], severity: 'mild', onset: v.time }],
  }),
  Immunization: (given, v) => ({
    ...base('Immunization', v),
    status: 'completed',
    vaccineCode: concept(v.text, 'http://hl7.org/fhir/sid/cvx', '140'),
    ...ref('patient', given.patient),
    occurrenceDateTime: v.time,
    primarySource: true,
    doseQuantity: quantity(v.decimal, 'mL'),
    ...refs('performer', given.practitioner, 'actor'),
  }),
  Procedure: (given, v) => ({
    ...base('Procedure', v),
    status: 'completed',
    code: { text: v.text },
    ...ref('subject', given.patient),
    performedPeriod: { start: '2024-01-01T08:00:00Z', end: '2024-01-01T09:30:00Z' },
    ...refs('performer', given.practitioner, 'actor'),
  }),
  Encounter: (given, v) => ({
    ...base('Encounter', v),
    status: 'finished',
    class: { system: `${CLINICAL}/v3-ActCode`, code: 'AMB' },
    type: [{ text: v.text }],
    ...ref('subject', given.patient),
    ...refs('participant', given.practitioner, 'individual'),
    period: { start: '2024-01-01T08:00:00Z' },
    length: { ...quantity(v.decimal, 'min') },
    ...refs('location', given.location, 'location'),
    ...ref('serviceProvider', given.organization),
  }),
  DiagnosticReport: (given, v) => ({
    ...base('DiagnosticReport', v),
    status: 'final',
    category: [{ text: 'Laboratory' }],
    code: concept(v.text, LOINC, '24323-8'),
    ...ref('subject', given.patient),
    effectiveDateTime: v.time,
    issued: v.time,
    ...refs('performer', given.organization),
    conclusion: v.text,
  }),
  Specimen: (given, v) => ({
    ...base('Specimen', v),
    status: 'available',
    type: { text: v.text },
    ...ref('subject', given.patient),
    receivedTime: v.time,
    collection: { collectedDateTime: v.time, quantity: quantity(v.decimal, 'mL') },
  }),
  DocumentReference: (given, v) => ({
    ...base('DocumentReference', v),
    status: 'current',
    docStatus: 'final',
    type: concept('Discharge summary', LOINC, '18842-5'),
    ...ref('subject', given.patient),
    date: v.time,
    description: v.text,
    content: [
      {
        attachment: { contentType: 'application/pdf', url: 'https://files.example.org/1.pdf', title: v.text },
      },
    ],
  }),
  CarePlan: (given, v) => ({
    ...base('CarePlan', v),
    status: 'active',
    intent: 'plan',
    title: v.text,
    ...ref('subject', given.patient),
    period: { start: '2024-01-01' },
    activity: [
      {
        detail: {
          status: 'scheduled',
          description: v.text,
          scheduledTiming: { repeat: { frequency: 2, period: new LosslessNumber('1.0'), periodUnit: 'd' } },
          dailyAmount: quantity(v.decimal),
        },
      },
    ],
  }),
  CareTeam: (given, v) => ({
    ...base('CareTeam', v),
    status: 'active',
    name: v.text,
    ...ref('subject', given.patient),
    ...refs('participant', given.practitioner, 'member'),
  }),
  Goal: (given, v) => ({
    ...base('Goal', v),
    lifecycleStatus: 'active',
    description: { text: v.text },
    ...ref('subject', given.patient),
    startDate: '2024-01-01',
    target: [
      {
        measure: concept('Weight', LOINC, '29463-7'),
        detailQuantity: quantity(v.decimal, 'kg'),
        dueDate: '2025-01',
      },
    ],
  }),
  RelatedPerson: (given, v) => ({
    ...base('RelatedPerson', v),
    active: true,
    ...ref('patient', given.patient),
    relationship: [concept('mother', `${CLINICAL}/v3-RoleCode`, 'MTH')],
    name: [{ text: v.text }],
    gender: 'unknown',
  }),
  Device: (given, v) => ({
    ...base('Device', v),
    status: 'active',
    deviceName: [{ name: v.text, type: 'user-friendly-name' }],
    serialNumber: '§-0001',
    ...ref('patient', given.patient),
  }),
  Practitioner: (_given, v) => ({
    ...base('Practitioner', v),
    active: true,
    name: [{ family: v.text, prefix: ['Dr.'] }],
    qualification: [{ code: { text: 'MD' }, period: { start: '1999' } }],
  }),
  PractitionerRole: (given, v) => ({
    ...base('PractitionerRole', v),
    active: true,
    ...ref('practitioner', given.practitioner),
    ...ref('organization', given.organization),
    code: [{ text: v.text }],
    availableTime: [{ daysOfWeek: ['mon'], availableStartTime: '08:30:00' }],
  }),
  Organization: (given, v) => ({
    ...base('Organization', v),
    active: true,
    name: v.text,
    ...ref('partOf', given.organization),
  }),
  Location: (given, v) => ({
    ...base('Location', v),
    status: 'active',
    name: v.text,
    position: { longitude: new LosslessNumber('8.5500'), latitude: new LosslessNumber('47.36670') },
    ...ref('managingOrganization', given.organization),
  }),
  Medication: (_given, v) => ({
    ...base('Medication', v),
    code: { text: v.text },
    status: 'active',
    ingredient: [
      {
        itemCodeableConcept: { text: 'Paracetamol' },
        strength: { numerator: quantity(v.decimal), denominator: quantity('1', 'mL') },
      },
    ],
  }),
};

function noted(text: string): JsonObject {
  return { extension: [{ url: 'http://example.org/fhir/note', valueString: text }] };
}

function dosage({ text, decimal }: Variation): JsonObject {
  return {
    text,
    timing: { repeat: { frequency: 1, period: new LosslessNumber('1.0'), periodUnit: 'd' } },
    asNeededBoolean: false,
    doseAndRate: [{ doseQuantity: quantity(decimal) }],
  };
}

/** The names of the 22 types. */
export const WRITABLE_TYPES = Object.keys(MAKERS) as readonly WritableType[];

/**
 * The types in a patient's record, other than the Patient. Includes Device, which is in a record if it refers to the patient.
 */
export const RECORD_TYPES: readonly WritableType[] = WRITABLE_TYPES.filter(
  (type) => type !== 'Patient' && TYPES[type].home !== 'directory',
);

/** Returns a valid resource without an id. Its decimals are `LosslessNumber`s, so print it with `printJson`. */
export function sample(
  type: WritableType,
  given: SampleRefs = {},
  variation: Partial<Variation> = {},
): JsonObject {
  return MAKERS[type](given, { ...DEFAULT, ...variation });
}

/** Returns a client's own Provenance for resources in one record. */
export function sampleProvenance(targets: readonly string[], agent: string): JsonObject {
  return {
    resourceType: 'Provenance',
    target: targets.map((reference): Json => ({ reference })),
    recorded: '2024-02-29T12:00:00.123456Z',
    agent: [{ who: { reference: agent } }],
  };
}

/** Text that is valid as FHIR's `string`: no control characters, and no blanks at either end. */
export const fhirText: fc.Arbitrary<string> = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .map((text) => text.replace(/\p{C}/gu, '').trim())
  .map((text) => (text === '' ? 'é' : text));

/** Decimals as written, often decimals that a double would change: `1.50`, `-0.00`, twenty digits. */
export const fhirDecimal: fc.Arbitrary<string> = fc
  .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.stringMatching(/^[0-9]{0,6}$/))
  .map(
    ([negative, whole, fraction]) => `${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`,
  );

/** Date-times with an offset. */
export const fhirTime: fc.Arbitrary<string> = fc
  .tuple(
    fc.date({
      min: new Date('1900-01-01T00:00:00Z'),
      max: new Date('2100-01-01T00:00:00Z'),
      noInvalidDate: true,
    }),
    fc.constantFrom('Z', '+00:00', '+05:30', '-11:00'),
  )
  .map(([date, offset]) => date.toISOString().replace('Z', offset));

/** Variations of everything except the marker. */
export const variations: fc.Arbitrary<Omit<Variation, 'marker'>> = fc.record({
  text: fhirText,
  decimal: fhirDecimal,
  time: fhirTime,
});

/** Returns an arbitrary for valid resources of a type. */
export function resourceOf(type: WritableType, given: SampleRefs = {}): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.uuid(), variations, fc.func(fc.boolean()))
    .map(([marker, variation, keep]) => thinned(sample(type, given, { marker, ...variation }), keep));
}

/** Elements that a sample can omit and still be valid. */
const OPTIONAL = [
  'meta',
  'language',
  'extension',
  'note',
  'telecom',
  'address',
  'contact',
  'communication',
  'performer',
];

function thinned(resource: JsonObject, keep: (element: string) => boolean): JsonObject {
  return Object.fromEntries(
    Object.entries(resource).filter(([name]) => !OPTIONAL.includes(name) || keep(name)),
  );
}
