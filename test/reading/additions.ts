/** Additions to a record, so that each of its lists has several entries: medicines, allergies, problems and values. */
import type { Chance } from './chance.ts';
import type { Json, Version } from './raw.ts';
import {
  ATC,
  concept,
  day,
  disturb,
  MODIFIER,
  otherOnset,
  RXNORM,
  varyCondition,
  varyFinding,
  varyMedicine,
} from './variations.ts';

/**
 * Returns additional versions for a patient's record.
 * @param directory receives the Medications that the versions refer to
 */
export function additionsTo(patient: string, chance: Chance, directory: Map<string, Json>): Version[] {
  const some = (least: number, more: number, make: () => Version[]): Version[] =>
    Array.from({ length: least + chance.upTo(more) }, make).flat();
  return [
    ...some(6, 3, () => [makeAllergy(chance, patient)]),
    ...some(2, 4, () => [makeSameMedicine(chance, patient)]),
    ...some(4, 4, () => varyMedicine(makeMedicine(chance, patient), chance, directory)),
    ...some(4, 4, () => varyCondition(makeProblem(chance, patient), chance)),
    ...some(8, 8, () => varyFinding(makeFinding(chance, patient), chance)),
  ];
}

function makeVersion(chance: Chance, type: string, members: Json): Version {
  const id = chance.id();
  const resource = { resourceType: type, id, ...members };
  return { type, id, version: 1 + chance.upTo(3), resource, byAi: false };
}

const DRUGS: readonly [Drug, ...Drug[]] = [
  ['metformin', 'A10BA02'],
  ['lisinopril', 'C09AA03'],
  ['amlodipine', 'C08CA01'],
  ['simvastatin', 'C10AA01'],
  ['omeprazole', 'A02BC01'],
  ['salbutamol', 'R03AC02'],
  ['levothyroxine', 'H03AA01'],
  ['warfarin', 'B01AA03'],
];
type Drug = readonly [name: string, code: string];

/** Returns a statement or an order for one of several drugs, with a dose. */
function makeMedicine(chance: Chance, patient: string): Version {
  const [name, code] = chance.pick(DRUGS);
  const isOrder = chance.is(0.5);
  const dose = {
    text: `${1 + chance.upTo(3)} tablets in the morning`,
    ...(chance.is(0.04) ? { modifierExtension: MODIFIER } : {}),
  };
  return makeVersion(chance, isOrder ? 'MedicationRequest' : 'MedicationStatement', {
    status: chance.pick(['active', 'active', 'active', 'completed']),
    ...(isOrder
      ? { intent: 'order', authoredOn: day(chance), dosageInstruction: [dose] }
      : { dosage: [dose] }),
    ...(isOrder || chance.is(0.2) ? {} : { effectivePeriod: { start: day(chance) } }),
    ...(isOrder || chance.is(0.6) ? {} : { dateAsserted: day(chance) }),
    medicationCodeableConcept: { coding: [{ system: ATC, code, display: name }], text: name },
    subject: { reference: `Patient/${patient}` },
  });
}

/** Returns a statement or an order for one of few drugs, under one of the drug's names. */
function makeSameMedicine(chance: Chance, patient: string): Version {
  const type = chance.pick(['MedicationStatement', 'MedicationRequest']);
  const name = chance.pick(['diclofenac', 'ibuprofen', 'Ibuprofen', 'morphine']);
  const code = chance.pick<Json>([
    { text: name },
    { coding: [{ system: ATC, code: 'M02AA15' }], text: name },
    { coding: [{ system: ATC, code: 'M01AB05', display: name }] },
    {
      coding: [
        { system: RXNORM, code: '3355', display: name },
        { system: ATC, code: 'M01AB05' },
      ],
    },
  ]);
  const medicine = makeVersion(chance, type, {
    status: chance.pick(['active', 'completed', 'stopped']),
    ...(type === 'MedicationRequest' ? { intent: 'order' } : {}),
    medicationCodeableConcept: code,
    subject: { reference: `Patient/${patient}` },
    ...(type === 'MedicationRequest' ? { authoredOn: day(chance) } : { effectiveDateTime: day(chance) }),
  });
  return disturb(medicine, chance);
}

/** Returns an allergy. */
function makeAllergy(chance: Chance, patient: string): Version {
  const verificationStatus = chance.pick([
    'confirmed',
    'confirmed',
    'confirmed',
    'confirmed',
    'unconfirmed',
    'refuted',
    'entered-in-error',
  ]);
  const clinicalStatus = chance.pick(['active', 'active', 'active', 'active', 'inactive', 'resolved']);
  const isVerified = !chance.is(0.2);
  const allergy = makeVersion(chance, 'AllergyIntolerance', {
    // Only an allergy that was entered in error may lack a clinical status (ait-1, ait-2).
    ...(isVerified && verificationStatus === 'entered-in-error'
      ? {}
      : { clinicalStatus: concept('allergyintolerance-clinical', clinicalStatus) }),
    ...(isVerified
      ? { verificationStatus: concept('allergyintolerance-verification', verificationStatus) }
      : {}),
    ...(chance.is(0.3) ? {} : { criticality: chance.pick(['high', 'high', 'low', 'unable-to-assess']) }),
    code: {
      text: chance.pick(['Penicillin', 'Shellfish', 'Latex', 'Peanut', 'Bee venom', 'Iodinated contrast']),
    },
    patient: { reference: `Patient/${patient}` },
    ...(chance.is(0.5) ? { onsetDateTime: day(chance) } : chance.is(0.2) ? otherOnset(chance) : {}),
    ...(chance.is(0.3) ? { lastOccurrence: day(chance) } : {}),
    ...(chance.is(0.5) ? { recordedDate: day(chance) } : {}),
  });
  return disturb(allergy, chance);
}

type Illness = readonly [name: string, code: string];
const ILLNESSES: readonly [Illness, ...Illness[]] = [
  ['Asthma (disorder)', '195967001'],
  ['Migraine', '37796009'],
  ['Gout', '90560007'],
  ['Psoriasis', '9014002'],
  ['Osteoarthritis', '396275006'],
  ['Appendicitis', '74400008'],
  ['Anemia (disorder)', '271737000'],
  ['Pneumonia', '233604007'],
];

function makeProblem(chance: Chance, patient: string): Version {
  const [display, code] = chance.pick(ILLNESSES);
  const isActive = chance.is(0.6);
  return makeVersion(chance, 'Condition', {
    clinicalStatus: concept('condition-clinical', isActive ? 'active' : 'resolved'),
    verificationStatus: concept('condition-ver-status', 'confirmed'),
    code: { coding: [{ system: 'http://snomed.info/sct', code, display }], text: display },
    subject: { reference: `Patient/${patient}` },
    ...(chance.is(0.7) ? { onsetDateTime: day(chance) } : {}),
    ...(chance.is(0.5) ? { recordedDate: day(chance) } : {}),
    ...(isActive
      ? {}
      : chance.pick<Json>([
          { abatementDateTime: '2025-12-03' },
          { abatementDateTime: '2025-12-03T10:00:00Z' },
          { abatementPeriod: { start: '2025', end: '2025-12' } },
          { abatementAge: { value: 52, unit: 'a', system: 'http://unitsofmeasure.org', code: 'a' } },
          { abatementString: 'after the operation' },
        ])),
  });
}

type Kind = readonly [name: string, code: string, category: string, unit: string, low: number, high: number];
const KINDS: readonly [Kind, ...Kind[]] = [
  ['Potassium', '2823-3', 'laboratory', 'mmol/L', 3, 6],
  ['Hemoglobin', '718-7', 'laboratory', 'g/dL', 8, 17],
  ['Ferritin', '2276-4', 'laboratory', 'ng/mL', 5, 300],
  ['Lactate', '2524-7', 'laboratory', 'mmol/L', 0.3, 4],
  ['Body temperature', '8310-5', 'vital-signs', 'Cel', 36, 40],
  ['Body weight', '29463-7', 'vital-signs', 'kg', 40, 120],
  ['Pain severity', '72514-3', 'survey', '{score}', 0, 10],
];

/** Returns one of several kinds of values, with digits as written by people or by machines. */
function makeFinding(chance: Chance, patient: string): Version {
  const [name, code, category, unit, low, high] = chance.pick(KINDS);
  const exact = low + chance.next() * (high - low);
  const quantity = {
    value: chance.is(0.3) ? exact : Math.round(exact * 10) / 10,
    unit,
    system: 'http://unitsofmeasure.org',
    code: unit,
    ...(chance.is(0.1) ? { comparator: chance.pick(['<', '<=', '>', '>=']) } : {}),
  };
  const value: Json = chance.is(0.08)
    ? { valueString: chance.pick(['hemolyzed', 'not enough material']) }
    : chance.is(0.08)
      ? { valueCodeableConcept: { text: chance.pick(['low', 'normal']) } }
      : { valueQuantity: quantity };
  return makeVersion(chance, 'Observation', {
    status: 'final',
    category: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category }] },
    ],
    code: { coding: [{ system: 'http://loinc.org', code, display: name }], text: name },
    subject: { reference: `Patient/${patient}` },
    effectiveDateTime: `${day(chance)}T${chance.pick(['00:10', '07:45', '23:50'])}:00${chance.pick(['Z', '+02:00', '-05:00'])}`,
    ...(chance.is(0.5) ? { issued: '2026-03-04T05:06:07Z' } : {}),
    ...value,
  });
}
