/** Adds the parts of a record other than measurements: visits, diagnoses, medications, documents, plans. */
import type { JsonObject } from '#src/shared/json/json.ts';
import {
  ATC,
  DIAGNOSES,
  type Diagnosis,
  DRUGS,
  type Drug,
  ICD10,
  LOINC,
  LOINC_CODES,
  VACCINES,
  type Vaccine,
} from './codes.ts';
import { type Day, dateText, timeText } from './days.ts';
import { IMPORT, type RecordBuilder, SELF, type Visit } from './record.ts';
import type { Author } from './synthetic.ts';

const CLASSES = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';

/** Adds an outpatient visit of half an hour or, with `nights`, a hospital stay. */
export function visit(builder: RecordBuilder, day: Day, reason?: string, nights = 0): Visit {
  const { directory, random, subject } = builder;
  const start = 540 + random.int(0, 24) * 15;
  const stay = nights > 0;
  const reference = builder.add('Encounter', builder.doctorAuthor, {
    status: 'finished',
    class: stay
      ? { system: CLASSES, code: 'IMP', display: 'inpatient encounter' }
      : { system: CLASSES, code: 'AMB', display: 'ambulatory' },
    subject,
    participant: [{ individual: { reference: builder.doctor } }],
    period: { start: timeText(day, start), end: timeText(day + nights, stay ? 600 + start / 4 : start + 30) },
    ...(reason === undefined ? {} : { reasonCode: [{ text: reason }] }),
    location: [{ location: { reference: stay ? directory.ward : directory.surgery } }],
    serviceProvider: { reference: stay ? directory.hospital : directory.practice },
  });
  return { reference, day, start };
}

/**
 * Adds a diagnosis to the problem list; with `end`, as resolved.
 * @returns its reference
 */
export function diagnose(
  builder: RecordBuilder,
  code: Diagnosis,
  onset: Day,
  end?: Day,
  seen?: Visit,
): string {
  return builder.add('Condition', builder.doctorAuthor, {
    clinicalStatus: status('condition-clinical', end === undefined ? 'active' : 'resolved'),
    verificationStatus: status('condition-ver-status', 'confirmed'),
    category: [status('condition-category', end === undefined ? 'problem-list-item' : 'encounter-diagnosis')],
    code: { coding: [{ system: ICD10, code, display: DIAGNOSES[code] }], text: DIAGNOSES[code] },
    subject: builder.subject,
    ...(seen === undefined ? {} : { encounter: { reference: seen.reference } }),
    onsetDateTime: dateText(onset),
    ...(end === undefined ? {} : { abatementDateTime: dateText(end) }),
    recordedDate: dateText(seen?.day ?? onset),
    recorder: { reference: builder.doctor },
  });
}

export interface Treatment {
  readonly drug: Drug;
  readonly start: Day;
  readonly end?: Day;
  /** Reference to a Condition. */
  readonly reason: string;
  /** The dosage as text. */
  readonly dosage: string;
  /** Why the treatment was stopped early. */
  readonly stopped?: string;
}

/** Adds a prescription, and the patient's statement that they take the medication. */
export function treat(
  builder: RecordBuilder,
  { drug, start, end, reason, dosage, stopped }: Treatment,
): void {
  const { subject, doctor, directory } = builder;
  const stocked = directory.medications.get(drug);
  const named = { coding: [{ system: ATC, code: drug, display: DRUGS[drug] }], text: DRUGS[drug] };
  const reasonReference = [{ reference: reason }];
  const over = end !== undefined;
  const state = !over ? 'active' : stopped === undefined ? 'completed' : 'stopped';
  const request = builder.add('MedicationRequest', builder.doctorAuthor, {
    status: state,
    ...(stopped === undefined ? {} : { statusReason: { text: stopped } }),
    intent: 'order',
    ...(stocked === undefined
      ? { medicationCodeableConcept: named }
      : { medicationReference: { reference: stocked, display: DRUGS[drug] } }),
    subject,
    authoredOn: dateText(start),
    requester: { reference: doctor },
    reasonReference,
    dosageInstruction: [{ text: dosage }],
  });
  builder.add('MedicationStatement', SELF, {
    basedOn: [{ reference: request }],
    status: state,
    ...(stopped === undefined ? {} : { statusReason: [{ text: stopped }] }),
    medicationCodeableConcept: named,
    subject,
    effectivePeriod: { start: dateText(start), ...(over ? { end: dateText(end) } : {}) },
    dateAsserted: dateText(Math.min(start + 1, builder.today - 1)),
    informationSource: subject,
    reasonReference,
    dosage: [{ text: dosage }],
  });
}

/**
 * Adds a document of a few hundred bytes, as plain text in the resource itself.
 * @returns its reference
 */
export function write(
  builder: RecordBuilder,
  day: Day,
  kind: keyof typeof LOINC_CODES,
  text: string,
  author: Author = builder.doctorAuthor,
): string {
  const [code, display] = LOINC_CODES[kind];
  const time = timeText(day, 1_020);
  const bytes = Buffer.from(`${display}\n${dateText(day)}\n\n${text}\n`);
  return builder.add('DocumentReference', author, {
    status: 'current',
    type: { coding: [{ system: LOINC, code, display }], text: display },
    subject: builder.subject,
    date: time,
    ...(author.reference === undefined ? {} : { author: [{ reference: author.reference }] }),
    custodian: { reference: builder.directory.practice },
    content: [
      {
        attachment: {
          contentType: 'text/plain; charset=utf-8',
          language: 'en',
          data: bytes.toString('base64'),
          size: bytes.length,
          title: display,
          creation: time,
        },
      },
    ],
  });
}

/** Adds a dose of a vaccine. */
export function vaccinate(builder: RecordBuilder, vaccine: Vaccine, day: Day, dose: number): void {
  builder.add('Immunization', builder.doctorAuthor, {
    status: 'completed',
    vaccineCode: {
      coding: [{ system: ATC, code: vaccine, display: VACCINES[vaccine] }],
      text: VACCINES[vaccine],
    },
    patient: builder.subject,
    occurrenceDateTime: dateText(day),
    primarySource: true,
    performer: [{ actor: { reference: builder.doctor } }],
    protocolApplied: [{ doseNumberPositiveInt: dose }],
  });
}

/** Adds an operation or similar procedure, described in text. */
export function operate(builder: RecordBuilder, text: string, seen: Visit, reason: string): void {
  builder.add('Procedure', builder.doctorAuthor, {
    status: 'completed',
    code: { text },
    subject: builder.subject,
    encounter: { reference: seen.reference },
    performedDateTime: timeText(seen.day, seen.start + 15),
    performer: [{ actor: { reference: builder.doctor } }],
    reasonReference: [{ reference: reason }],
  });
}

/**
 * Adds an allergy.
 * @param substance a code or a text
 */
export function allergy(
  builder: RecordBuilder,
  substance: Drug | { readonly text: string },
  category: 'medication' | 'environment' | 'food',
  since: Day,
  reaction: string,
): void {
  const code: JsonObject =
    typeof substance === 'string'
      ? { coding: [{ system: ATC, code: substance, display: DRUGS[substance] }], text: DRUGS[substance] }
      : { text: substance.text };
  builder.add('AllergyIntolerance', builder.doctorAuthor, {
    clinicalStatus: status('allergyintolerance-clinical', 'active'),
    verificationStatus: status('allergyintolerance-verification', 'confirmed'),
    type: 'allergy',
    category: [category],
    criticality: category === 'medication' ? 'high' : 'low',
    code,
    patient: builder.subject,
    onsetDateTime: dateText(since),
    recordedDate: dateText(since),
    recorder: { reference: builder.doctor },
    reaction: [
      { manifestation: [{ text: reaction }], severity: category === 'medication' ? 'severe' : 'mild' },
    ],
  });
}

/** Adds a goal and a care plan to reach it. */
export function plan(
  builder: RecordBuilder,
  day: Day,
  goal: string,
  activities: readonly string[],
  reason: string,
): void {
  const { subject, doctorAuthor: author, doctor } = builder;
  const aim = builder.add('Goal', author, {
    lifecycleStatus: 'active',
    description: { text: goal },
    subject,
    startDate: dateText(day),
    addresses: [{ reference: reason }],
  });
  builder.add('CarePlan', author, {
    status: 'active',
    intent: 'plan',
    title: goal,
    subject,
    period: { start: dateText(day) },
    created: dateText(day),
    author: { reference: doctor },
    addresses: [{ reference: reason }],
    goal: [{ reference: aim }],
    activity: activities.map((description) => ({ detail: { status: 'in-progress', description } })),
  });
}

/**
 * Adds the patient's own device if the record doesn't have one yet.
 * @returns its reference
 */
export function ownDevice(builder: RecordBuilder, name: string): string {
  builder.device ??= builder.add('Device', IMPORT, {
    status: 'active',
    manufacturer: 'Clearwater Instruments',
    deviceName: [{ name, type: 'user-friendly-name' }],
    patient: builder.subject,
  });
  return builder.device;
}

function status(system: string, code: string): JsonObject {
  return { coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }] };
}
