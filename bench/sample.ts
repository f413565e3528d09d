/** Invented data of realistic size: Observations of about 1.4 KB and transactions of about 300 linked entries. */

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const SNOMED = 'http://snomed.info/sct';

/** Code, display, unit, and the range of values. */
const VITALS = [
  ['8302-2', 'Body height', 'cm', 150, 200],
  ['29463-7', 'Body weight', 'kg', 45, 130],
  ['8867-4', 'Heart rate', '/min', 50, 110],
  ['8310-5', 'Body temperature', 'Cel', 35, 41],
  ['4548-4', 'Hemoglobin A1c/Hemoglobin.total in Blood', '%', 4, 12],
  ['2339-0', 'Glucose [Mass/volume] in Blood', 'mg/dL', 60, 250],
  ['2947-0', 'Sodium [Moles/volume] in Blood', 'mmol/L', 130, 150],
  ['6299-2', 'Urea nitrogen [Mass/volume] in Blood', 'mg/dL', 5, 30],
] as const;

const CONDITIONS = [
  ['59621000', 'Hypertension'],
  ['44054006', 'Diabetes mellitus type 2'],
  ['195662009', 'Acute viral pharyngitis'],
  ['444814009', 'Viral sinusitis'],
] as const;

const NOTE =
  'Measured at rest in a sitting position after five minutes of silence, left arm, cuff size medium; the patient ' +
  'reported no complaints. The device was calibrated in the same month, and the reading was repeated once. ';

/** A JSON object. */
export type Sample = Record<string, unknown>;

/**
 * Returns a patient's n-th Observation, about 1.4 KB of JSON. The subject can be any reference that is valid where the
 * Observation is used.
 */
export function observation(subject: string, n: number, encounter?: string): Sample {
  const [code, display, unit, low, high] = VITALS[n % VITALS.length] ?? VITALS[0];
  // Avoids trailing zeros, so that JavaScript prints the same literal and the texts can be compared.
  const value = Math.round((low + ((n * 7919) % 1000) * ((high - low) / 1000)) * 10) / 10;
  const at = instant(n);
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [
      {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/observation-category',
            code: 'vital-signs',
            display: 'Vital Signs',
          },
        ],
        text: 'Vital Signs',
      },
    ],
    code: { coding: [{ system: LOINC, code, display }], text: display },
    subject: { reference: subject },
    ...(encounter === undefined ? {} : { encounter: { reference: encounter } }),
    identifier: [{ system: 'https://example.org/fhir/measurements', value: `m-${n}` }],
    effectiveDateTime: at,
    issued: at,
    valueQuantity: { value, unit, system: UCUM, code: unit },
    interpretation: [
      {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation',
            code: 'N',
            display: 'Normal',
          },
        ],
      },
    ],
    referenceRange: [
      {
        low: { value: low, unit, system: UCUM, code: unit },
        high: { value: high, unit, system: UCUM, code: unit },
      },
    ],
    note: [{ text: NOTE }],
  };
}

/** Returns a Patient of about 0.7 KB. */
export function patient(n: number): Sample {
  return {
    resourceType: 'Patient',
    identifier: [{ system: 'https://example.org/fhir/mrn', value: `bench-${n}` }],
    name: [{ use: 'official', family: `Bench${n}`, given: ['Ada', 'M.'] }],
    telecom: [{ system: 'phone', value: `555-0${100 + (n % 900)}`, use: 'home' }],
    gender: n % 2 === 0 ? 'female' : 'male',
    birthDate: `19${String(30 + (n % 60)).padStart(2, '0')}-0${1 + (n % 9)}-1${n % 10}`,
    address: [{ line: [`${n} Main Street`], city: 'Springfield', postalCode: '01101', country: 'US' }],
  };
}

/** Returns a transaction with a new patient's visit history: `entries` resources linked by `urn:uuid:` references. */
export function transaction(n: number, entries: number): Sample {
  const subject = urn(n, 0);
  let encounter: string | undefined;
  return bundle(n, entries, (i) => {
    if (i === 0) return patient(n);
    const made = visit(subject, i, encounter);
    if (made.resourceType === 'Encounter') encounter = urn(n, i);
    return made;
  });
}

/** Returns a transaction with `entries` more resources for an existing patient. */
export function additions(patientId: string, n: number, entries: number): Sample {
  return bundle(n, entries, (i) => observation(`Patient/${patientId}`, n * entries + i));
}

/** Returns the i-th resource of a history. Every 15th resource is an encounter, followed by the resources that belong to it. */
function visit(subject: string, i: number, encounter: string | undefined): Sample {
  switch (i % 15) {
    case 1:
      return sampleEncounter(subject, i);
    case 2:
      return condition(subject, i, encounter);
    case 3:
      return procedure(subject, i, encounter);
    default:
      return observation(subject, i, encounter);
  }
}

/** Returns an Encounter of about 0.7 KB. */
export function sampleEncounter(subject: string, n: number): Sample {
  return {
    resourceType: 'Encounter',
    status: 'finished',
    class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB', display: 'ambulatory' },
    type: [
      {
        coding: [{ system: SNOMED, code: '185345009', display: 'Encounter for symptom' }],
        text: 'Encounter for symptom',
      },
    ],
    subject: { reference: subject },
    period: { start: instant(n), end: instant(n + 1) },
    reasonCode: [{ text: NOTE }],
  };
}

/** Returns a Condition of about 0.8 KB. */
export function condition(subject: string, n: number, encounter: string | undefined): Sample {
  const [code, display] = CONDITIONS[n % CONDITIONS.length] ?? CONDITIONS[0];
  return {
    resourceType: 'Condition',
    clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active'),
    verificationStatus: coded('http://terminology.hl7.org/CodeSystem/condition-ver-status', 'confirmed'),
    code: { coding: [{ system: SNOMED, code, display }], text: display },
    subject: { reference: subject },
    ...(encounter === undefined ? {} : { encounter: { reference: encounter } }),
    onsetDateTime: instant(n),
    recordedDate: instant(n),
    note: [{ text: NOTE }],
  };
}

function procedure(subject: string, n: number, encounter: string | undefined): Sample {
  return {
    resourceType: 'Procedure',
    status: 'completed',
    code: {
      coding: [{ system: SNOMED, code: '428191000124101', display: 'Documentation of current medications' }],
      text: 'Documentation of current medications',
    },
    subject: { reference: subject },
    ...(encounter === undefined ? {} : { encounter: { reference: encounter } }),
    performedPeriod: { start: instant(n), end: instant(n + 1) },
    note: [{ text: NOTE }],
  };
}

function coded(system: string, code: string): Sample {
  return { coding: [{ system, code }] };
}

function bundle(n: number, entries: number, resource: (i: number) => Sample): Sample {
  const entry = Array.from({ length: entries }, (_, i) => {
    const made = resource(i);
    return { fullUrl: urn(n, i), resource: made, request: { method: 'POST', url: made.resourceType } };
  });
  return { resourceType: 'Bundle', type: 'transaction', entry };
}

function urn(n: number, i: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  return `urn:uuid:${hex(n, 8)}-0000-4000-8000-${hex(i, 12)}`;
}

/** Returns an instant that advances by an hour with each n and starts over after a few years. */
function instant(n: number): string {
  return `${new Date(Date.UTC(2015, 0, 1) + (n % 70_000) * 3_600_000).toISOString().slice(0, 19)}Z`;
}
