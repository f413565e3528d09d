/** A valid resource of each of the 26 types. The resources include the required elements of many datatypes and backbones. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const patient: JsonObject = { reference: 'Patient/p1' };
const text = (value: string): JsonObject => ({ text: value });
const coded = (system: string, code: string): JsonObject => ({ coding: [{ system, code }] });
const narrative: JsonObject = {
  status: 'generated',
  div: '<div xmlns="http://www.w3.org/1999/xhtml"><p>text</p></div>',
};

/** Maps a type to its example. Use a `structuredClone` if you need to change an example. */
export const EXAMPLES: Readonly<Record<ResourceType, JsonObject>> = {
  Patient: {
    resourceType: 'Patient',
    id: 'p1',
    meta: {
      profile: ['http://example.org/StructureDefinition/p'],
      tag: [{ system: 'http://example.org', code: 't' }],
    },
    text: narrative,
    extension: [
      { url: 'http://example.org/plain', valueString: 'x' },
      { url: 'http://example.org/nested', extension: [{ url: 'inner', valueDecimal: 1.5 }] },
    ],
    identifier: [{ use: 'usual', system: 'urn:oid:1.2.36', value: '1', period: { start: '2001-05-06' } }],
    active: true,
    name: [
      {
        family: 'Doe',
        given: ['Jane', 'Q'],
        _given: [null, { extension: [{ url: 'http://x.org/q', valueCode: 'q' }] }],
      },
    ],
    telecom: [{ system: 'phone', value: '555', use: 'home', rank: 1 }],
    gender: 'female',
    birthDate: '1974-12-25',
    _birthDate: { extension: [{ url: 'http://x.org/time', valueDateTime: '1974-12-25T14:35:45-05:00' }] },
    deceasedBoolean: false,
    address: [{ line: ['1 Street'], city: 'X', country: 'US' }],
    maritalStatus: text('M'),
    multipleBirthInteger: 1,
    photo: [{ contentType: 'image/gif', data: 'R0lGODlhEwARAPcAAAAAAAAA' }],
    contact: [{ relationship: [text('mother')], name: { text: 'Ann' } }],
    communication: [{ language: text('de'), preferred: true }],
    generalPractitioner: [{ reference: 'Practitioner/a' }],
    managingOrganization: { reference: 'Organization/1', display: 'Org' },
    link: [{ other: { reference: 'Patient/p2' }, type: 'seealso' }],
  },
  Observation: {
    resourceType: 'Observation',
    status: 'final',
    category: [coded('http://terminology.hl7.org/CodeSystem/observation-category', 'vital-signs')],
    code: coded('http://loinc.org', '85354-9'),
    subject: patient,
    encounter: { reference: 'Encounter/e' },
    effectiveDateTime: '2020-02-29T10:00:00.123+01:00',
    issued: '2020-02-29T10:00:00Z',
    performer: [{ reference: 'Practitioner/a' }],
    note: [{ authorString: 'me', time: '2020', text: 'note' }],
    referenceRange: [{ low: { value: 1, unit: 'mg' }, high: { value: 2, unit: 'mg' } }],
    component: [
      {
        code: coded('http://loinc.org', '8480-6'),
        valueQuantity: {
          value: 107,
          comparator: '<',
          unit: 'mmHg',
          system: 'http://unitsofmeasure.org',
          code: 'mm[Hg]',
        },
      },
      {
        code: text('series'),
        valueSampledData: { origin: { value: 0 }, period: 10, dimensions: 1, data: '1 2 E' },
      },
      { code: text('ratio'), valueRatio: { numerator: { value: 1 }, denominator: { value: 128 } } },
    ],
  },
  Condition: {
    resourceType: 'Condition',
    clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'resolved'),
    verificationStatus: coded('http://terminology.hl7.org/CodeSystem/condition-ver-status', 'confirmed'),
    code: text('Burn'),
    subject: patient,
    onsetAge: { value: 52, unit: 'years', system: 'http://unitsofmeasure.org', code: 'a' },
    abatementDateTime: '2013-03',
    stage: [{ summary: text('I') }],
    evidence: [{ detail: [{ reference: 'Observation/o' }] }],
  },
  MedicationStatement: {
    resourceType: 'MedicationStatement',
    status: 'active',
    medicationCodeableConcept: coded('http://www.whocc.no/atc', 'C09AA05'),
    subject: patient,
    effectivePeriod: { start: '2020-01-01', end: '2020-02' },
    dosage: [
      {
        sequence: 1,
        text: 'one a day',
        timing: {
          event: ['2020-01-01'],
          repeat: {
            frequency: 1,
            period: 1,
            periodUnit: 'd',
            timeOfDay: ['08:00:00'],
            boundsDuration: duration(3),
          },
        },
        asNeededBoolean: false,
        doseAndRate: [{ doseQuantity: { value: 1, unit: 'tab' } }],
      },
    ],
  },
  MedicationRequest: {
    resourceType: 'MedicationRequest',
    status: 'active',
    intent: 'order',
    medicationReference: { reference: '#med' },
    contained: [{ resourceType: 'Medication', id: 'med', code: text('x') }],
    subject: patient,
    authoredOn: '2015-01-15',
    requester: { reference: 'Practitioner/a' },
    dispenseRequest: { numberOfRepeatsAllowed: 0, expectedSupplyDuration: duration(30) },
    substitution: { allowedBoolean: true },
  },
  AllergyIntolerance: {
    resourceType: 'AllergyIntolerance',
    clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', 'active'),
    type: 'allergy',
    category: ['food'],
    criticality: 'high',
    code: text('Cashew'),
    patient,
    reaction: [{ manifestation: [text('hives')], severity: 'mild' }],
  },
  Immunization: {
    resourceType: 'Immunization',
    status: 'completed',
    vaccineCode: text('flu'),
    patient,
    occurrenceDateTime: '2013-01-10',
    performer: [{ actor: { reference: 'Practitioner/a' } }],
    education: [{ documentType: '253088698300010311120702' }],
    protocolApplied: [{ doseNumberPositiveInt: 1 }],
  },
  Procedure: {
    resourceType: 'Procedure',
    status: 'completed',
    subject: patient,
    performedPeriod: { start: '2010-01-01T10:00:00Z', end: '2010-01-01T10:30:00+00:00' },
    performer: [{ actor: { reference: 'Practitioner/a' }, onBehalfOf: { reference: 'Organization/o' } }],
    focalDevice: [{ manipulated: { reference: 'Device/d' } }],
  },
  Encounter: {
    resourceType: 'Encounter',
    status: 'in-progress',
    statusHistory: [{ status: 'arrived', period: { start: '2013-03-11' } }],
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'IMP' },
    classHistory: [{ class: { code: 'AMB' }, period: { start: '2013' } }],
    subject: patient,
    participant: [{ individual: { reference: 'Practitioner/a' } }],
    diagnosis: [{ condition: { reference: 'Condition/c' }, rank: 1 }],
    location: [{ location: { reference: 'Location/l' }, status: 'active' }],
  },
  DiagnosticReport: {
    resourceType: 'DiagnosticReport',
    status: 'final',
    code: text('CBC'),
    subject: patient,
    issued: '2011-03-04T11:45:33+11:00',
    basedOn: [{ reference: 'ServiceRequest/7' }],
    result: [{ reference: 'Observation/o' }],
    media: [{ link: { reference: 'Media/m' } }],
    presentedForm: [{ contentType: 'text/plain; charset=utf-8', data: 'YQ==', hash: 'YWJjZA==', size: 1 }],
  },
  Specimen: {
    resourceType: 'Specimen',
    status: 'available',
    subject: patient,
    collection: { collectedDateTime: '2011', fastingStatusDuration: duration(2), quantity: { value: 6 } },
    processing: [{ timePeriod: { start: '2011' } }],
    container: [{ additiveCodeableConcept: text('heparin') }],
  },
  DocumentReference: {
    resourceType: 'DocumentReference',
    status: 'current',
    docStatus: 'final',
    subject: patient,
    date: '2005-12-24T09:43:41+11:00',
    relatesTo: [{ code: 'appends', target: { reference: 'DocumentReference/d' } }],
    content: [
      {
        attachment: {
          contentType: 'application/hl7-v3+xml',
          language: 'en-US',
          url: 'http://example.org/xds/doc',
        },
        format: { system: 'urn:oid:1.3.6', code: 'x' },
      },
    ],
    context: { period: { start: '2004-12-23T08:00:00+11:00' } },
  },
  CarePlan: {
    resourceType: 'CarePlan',
    status: 'active',
    intent: 'plan',
    subject: patient,
    activity: [{ detail: { status: 'not-started', kind: 'ServiceRequest', scheduledString: 'daily' } }],
  },
  CareTeam: {
    resourceType: 'CareTeam',
    status: 'active',
    subject: patient,
    participant: [{ member: { reference: 'Practitioner/a' }, onBehalfOf: { reference: 'Organization/o' } }],
  },
  Goal: {
    resourceType: 'Goal',
    lifecycleStatus: 'on-hold',
    description: text('walk'),
    subject: patient,
    startDate: '2015-04-05',
    target: [
      {
        measure: text('weight'),
        detailRange: { low: { value: 160 }, high: { value: 180 } },
        dueDate: '2016-04-05',
      },
    ],
  },
  RelatedPerson: {
    resourceType: 'RelatedPerson',
    patient,
    relationship: [text('wife')],
    birthDate: '1963',
    communication: [{ language: text('nl') }],
  },
  Device: {
    resourceType: 'Device',
    status: 'active',
    udiCarrier: [{ deviceIdentifier: '00844588003288', entryType: 'barcode' }],
    deviceName: [{ name: 'Pump', type: 'model-name' }],
    specialization: [{ systemType: text('pump') }],
    version: [{ value: '1' }],
    property: [{ type: text('weight'), valueQuantity: [{ value: 1 }] }],
  },
  Provenance: {
    resourceType: 'Provenance',
    target: [{ reference: 'Observation/o/_history/2' }],
    recorded: '2015-06-27T08:39:24+10:00',
    agent: [{ who: { reference: 'Practitioner/a' }, onBehalfOf: { reference: 'Organization/o' } }],
    entity: [
      { role: 'source', what: { reference: 'DocumentReference/d' }, agent: [{ who: { display: 'x' } }] },
    ],
    signature: [
      {
        type: [{ system: 'urn:iso-astm:E1762-95:2013', code: '1.2.840.10065.1.12.1.1' }],
        when: '2015-08-27T08:39:24+10:00',
        who: { reference: 'Practitioner/a' },
      },
    ],
  },
  Practitioner: {
    resourceType: 'Practitioner',
    name: [{ family: 'Careful' }],
    qualification: [{ code: text('BS') }],
  },
  PractitionerRole: {
    resourceType: 'PractitionerRole',
    active: true,
    practitioner: { reference: 'Practitioner/a' },
    availableTime: [{ daysOfWeek: ['mon', 'tue'], availableStartTime: '08:00:00' }],
    notAvailable: [{ description: 'away' }],
  },
  Organization: {
    resourceType: 'Organization',
    name: 'Clinic',
    alias: ['C'],
    telecom: [{ system: 'phone', value: '1', use: 'work' }],
    contact: [{ purpose: text('ADMIN') }],
  },
  Location: {
    resourceType: 'Location',
    status: 'active',
    mode: 'instance',
    name: 'Ward',
    position: { longitude: -83.6945691, latitude: 42.25475478, altitude: 0 },
    hoursOfOperation: [{ daysOfWeek: ['sat'], allDay: true }],
  },
  Medication: {
    resourceType: 'Medication',
    code: text('x'),
    status: 'active',
    ingredient: [
      { itemCodeableConcept: text('y'), strength: { numerator: { value: 1 }, denominator: { value: 1 } } },
    ],
    batch: { lotNumber: '9494788', expirationDate: '2017-05-22' },
  },
  CodeSystem: {
    resourceType: 'CodeSystem',
    url: 'http://example.org/cs',
    status: 'draft',
    content: 'complete',
    useContext: [{ code: { code: 'age' }, valueCodeableConcept: text('all') }],
    filter: [{ code: 'f', operator: ['='], value: 'v' }],
    property: [{ code: 'p', type: 'string' }],
    concept: [
      {
        code: 'a',
        designation: [{ value: 'A' }],
        property: [{ code: 'p', valueString: 'x' }],
        concept: [{ code: 'b' }],
      },
    ],
  },
  ValueSet: {
    resourceType: 'ValueSet',
    status: 'draft',
    compose: {
      include: [
        { system: 'http://example.org/cs', filter: [{ property: 'concept', op: 'is-a', value: 'a' }] },
      ],
      exclude: [{ system: 'http://example.org/cs', concept: [{ code: 'b', designation: [{ value: 'B' }] }] }],
    },
    expansion: {
      timestamp: '2020-01-01',
      parameter: [{ name: 'count', valueInteger: 1 }],
      contains: [{ system: 'http://example.org/cs', code: 'a' }],
    },
  },
  ConceptMap: {
    resourceType: 'ConceptMap',
    status: 'draft',
    group: [
      {
        element: [
          {
            code: 'a',
            target: [
              { code: 'b', equivalence: 'equivalent', dependsOn: [{ property: 'http://x.org', value: 'v' }] },
            ],
          },
        ],
        unmapped: { mode: 'fixed', code: 'z' },
      },
    ],
  },
};

function duration(days: number): JsonObject {
  return { value: days, unit: 'd', system: 'http://unitsofmeasure.org', code: 'd' };
}
