/** Variations of resources that FHIR allows: statuses, dates, codes, certainty, modifiers, authors. */
import type { Chance } from './chance.ts';
import { type Json, texts, type Version } from './raw.ts';

const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';
/** Code systems of drugs. */
export const ATC = 'http://www.whocc.no/atc';
export const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm';

/** Ends of periods around the records' current day, 2026-11-22, in all precisions. */
const ENDS = [
  '2020',
  '2026',
  '2026-10',
  '2026-11',
  '2026-11-21',
  '2026-11-22',
  '2027-01-01',
  '2026-11-21T23:30:00-05:00',
] as const;
/** A modifier that may reverse the meaning. */
export const MODIFIER = [{ url: 'https://example.org/not', valueBoolean: true }];

/** Returns a CodeableConcept from one of HL7's code systems. */
export const concept = (system: string, code: string): Json => ({
  coding: [{ system: `${TERMINOLOGY}/${system}`, code }],
});

/** Returns a version with changed members; undefined removes a member. */
function change(version: Version, members: Json): Version {
  const resource = Object.fromEntries(
    Object.entries({ ...version.resource, ...members }).filter(([, value]) => value !== undefined),
  );
  return { ...version, resource };
}

/** Returns a copy with an id of its own. */
function repeat(version: Version, chance: Chance, members: Json): Version {
  const id = chance.id();
  return change({ ...version, id }, { ...members, id });
}

/** Occasionally turns a statement into one written by an AI, or one that a modifier may reverse. */
export function disturb(version: Version, chance: Chance): Version {
  if (chance.is(0.06)) return { ...version, byAi: true };
  if (chance.is(0.03)) return change(version, { modifierExtension: MODIFIER });
  if (chance.is(0.03)) return change(version, { implicitRules: 'https://example.org/rules' });
  return version;
}

export function varyPatient(version: Version, chance: Chance): Version[] {
  const died = chance.upTo(20);
  if (died === 0)
    return [
      change(version, { deceasedDateTime: chance.pick(['2026-10-01', '2025', '2026-11-02T04:10:00+01:00']) }),
    ];
  if (died === 1) return [change(version, { deceasedDateTime: undefined, deceasedBoolean: true })];
  return [died === 2 ? change(version, { deceasedDateTime: undefined, deceasedBoolean: false }) : version];
}

export function varyMedicine(version: Version, chance: Chance, directory: Map<string, Json>): Version[] {
  const isOrder = version.type === 'MedicationRequest';
  const status = isOrder
    ? chance.pick([
        'active',
        'active',
        'on-hold',
        'cancelled',
        'completed',
        'entered-in-error',
        'stopped',
        'draft',
        'unknown',
      ])
    : chance.pick([
        'active',
        'active',
        'completed',
        'entered-in-error',
        'intended',
        'stopped',
        'on-hold',
        'unknown',
        'not-taken',
      ]);
  const stated = change(version, {
    status: chance.is(0.5) ? status : version.resource.status,
    ...(isOrder && chance.is(0.2)
      ? {
          intent: chance.pick([
            'proposal',
            'plan',
            'original-order',
            'reflex-order',
            'filler-order',
            'instance-order',
            'option',
          ]),
        }
      : {}),
    ...(isOrder && chance.is(0.12) ? { doNotPerform: true } : {}),
    ...(chance.is(0.2) ? { authoredOn: undefined, effectivePeriod: undefined } : {}),
  });
  const coded = nameOtherwise(boundOtherwise(stated, chance), chance, directory);
  const repeats = Array.from({ length: chance.is(0.3) ? chance.upTo(4) : 0 }, () =>
    repeat(
      coded,
      chance,
      isOrder ? { authoredOn: day(chance), status: chance.pick(['completed', 'stopped', 'active']) } : {},
    ),
  );
  return [coded, ...repeats].map((each) => disturb(each, chance));
}

/** Returns a day from 2005 to 2025. */
export const day = (chance: Chance): string =>
  `${2005 + chance.upTo(21)}-0${1 + chance.upTo(9)}-1${chance.upTo(10)}`;

/** Gives a medicine an end, either of its period or in the bounds of its dosages. */
function boundOtherwise(version: Version, chance: Chance): Version {
  const isOrder = version.type === 'MedicationRequest';
  if (!isOrder && chance.is(0.3)) {
    const end = chance.is(0.7) ? { end: chance.pick(ENDS) } : {};
    const start = chance.is(0.15) ? '2027-03-01' : '2019-03';
    const period = { ...(chance.is(0.8) ? { start } : {}), ...(start < '2027' ? end : {}) };
    return change(version, { effectivePeriod: Object.keys(period).length === 0 ? undefined : period });
  }
  if (!isOrder && chance.is(0.1))
    return change(version, { effectivePeriod: undefined, effectiveDateTime: day(chance) });
  if (!chance.is(0.25)) return version;
  const dosage = Array.from({ length: 1 + chance.upTo(2) }, (_, n) => ({
    text: `${n + 1} tablets`,
    timing: {
      repeat: {
        ...(chance.is(0.8) ? { boundsPeriod: { start: '2018', end: chance.pick(ENDS) } } : {}),
        frequency: 1,
        period: 1,
        periodUnit: 'd',
      },
    },
    ...(chance.is(0.05) ? { modifierExtension: MODIFIER } : {}),
  }));
  return change(version, { [isOrder ? 'dosageInstruction' : 'dosage']: dosage });
}

/** Returns a different number for each name, because a code shared by two drugs would mean that they are the same. */
function codeNumber(name: string): number {
  return [...name].reduce((number, letter) => (number * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

/** Identifies the drug differently: with more codes, none, another system, or a contained or referenced Medication. */
function nameOtherwise(version: Version, chance: Chance, directory: Map<string, Json>): Version {
  const name =
    texts(version.resource, 'medicationCodeableConcept.text')[0] ??
    texts(version.resource, 'medicationReference.display')[0] ??
    'aspirin';
  const inline = (code: Json): Version =>
    change(version, { medicationCodeableConcept: code, medicationReference: undefined });
  const rxnorm = {
    system: RXNORM,
    code: String(codeNumber(name)),
    display: `${name} oral tablet`,
  };
  const code = { coding: [rxnorm], text: name };
  switch (chance.upTo(14)) {
    case 0:
      return inline({ text: name.toUpperCase() });
    case 1:
      return inline(code);
    case 2:
      return inline({ coding: [rxnorm, { system: ATC, code: 'X01AB02', display: name }] });
    case 3:
      return inline({ coding: [{ code: 'local-7', display: name }] });
    case 4:
      return inline({ coding: [{ system: ATC, code: `D${codeNumber(name)}GEL` }], text: name });
    case 5:
      return change(version, {
        contained: [{ resourceType: 'Medication', id: 'med', code }],
        medicationReference: { reference: '#med' },
        medicationCodeableConcept: undefined,
      });
    case 6: {
      const id = chance.id();
      directory.set(`Medication/${id}`, { resourceType: 'Medication', id, code });
      return change(version, {
        medicationReference: { reference: `Medication/${id}` },
        medicationCodeableConcept: undefined,
      });
    }
    default:
      return version;
  }
}

export function varyCondition(version: Version, chance: Chance): Version[] {
  const certainty = chance.pick([
    'confirmed',
    'confirmed',
    'unconfirmed',
    'provisional',
    'differential',
    'refuted',
  ]);
  const stated = chance.is(0.5)
    ? change(version, {
        clinicalStatus: concept(
          'condition-clinical',
          chance.pick(['active', 'recurrence', 'relapse', 'inactive', 'remission', 'resolved']),
        ),
        abatementDateTime: undefined,
        abatementPeriod: undefined,
        abatementAge: undefined,
        abatementString: undefined,
        verificationStatus: concept('condition-ver-status', certainty),
      })
    : version;
  const dated = chance.is(0.3)
    ? change(stated, {
        onsetDateTime: undefined,
        ...otherOnset(chance),
      })
    : stated;
  const all = Array.from({ length: chance.is(0.3) ? chance.upTo(4) : 0 }, () =>
    repeatCondition(dated, chance),
  );
  if (chance.is(0.1))
    all.push(
      repeat(version, chance, {
        clinicalStatus: undefined,
        verificationStatus: concept('condition-ver-status', 'entered-in-error'),
        ...{ abatementDateTime: undefined, abatementPeriod: undefined },
        ...{ abatementAge: undefined, abatementString: undefined },
      }),
    );
  return [dated, ...all].map((each) => disturb(each, chance));
}

/** Returns a different type of onset[x], or none. */
export const otherOnset = (chance: Chance): Json =>
  chance.pick<Json>([
    {},
    { onsetString: 'as a child' },
    { onsetPeriod: { start: '2011-05' } },
    { onsetPeriod: { start: '2012-03-04', end: '2012-04' } },
    { onsetAge: { value: 40, unit: 'a', system: 'http://unitsofmeasure.org', code: 'a' } },
    { onsetAge: { value: 1, unit: 'mo', system: 'http://unitsofmeasure.org', code: 'mo' } },
  ]);

/** Returns the same problem at a different visit, or a different problem with the same code. */
function repeatCondition(version: Version, chance: Chance): Version {
  const [code] = texts(version.resource, 'code.coding.code');
  const [system] = texts(version.resource, 'code.coding.system');
  const [text] = texts(version.resource, 'code.text');
  const onset = chance.is(0.7)
    ? { onsetDateTime: day(chance), onsetPeriod: undefined, onsetString: undefined, onsetAge: undefined }
    : {};
  const other: Json = { system: 'http://snomed.info/sct', code: '64572001', display: 'Disease' };
  switch (chance.upTo(8)) {
    case 0:
      return repeat(version, chance, {
        ...{ ...onset, clinicalStatus: undefined, abatementDateTime: undefined, abatementPeriod: undefined },
        ...{ abatementAge: undefined, abatementString: undefined },
      });
    case 1:
      return repeat(version, chance, {
        ...onset,
        bodySite: [{ text: chance.pick(['left arm', 'right arm']) }],
      });
    case 2:
      return repeat(version, chance, {
        ...onset,
        code: { coding: [{ system, code }], text: `${text}, ${chance.pick(['severe', 'mild'])}` },
      });
    case 3:
      return repeat(version, chance, { ...onset, code: { coding: [other, { system, code }], text } });
    case 4:
      return repeat(version, chance, { ...onset, code: { text } });
    default:
      return repeat(version, chance, onset);
  }
}

export function varyFinding(version: Version, chance: Chance): Version[] {
  if (!chance.is(0.15)) return [version];
  const changed = chance.pick<Json>([
    { status: 'cancelled' },
    { status: 'registered' },
    { status: 'entered-in-error' },
    { status: 'preliminary' },
    { status: 'amended' },
    {
      ...{ valueQuantity: undefined, valueString: undefined, valueCodeableConcept: undefined },
      component: undefined,
      dataAbsentReason: concept('data-absent-reason', 'error'),
    },
    { effectiveDateTime: undefined },
    { effectiveDateTime: undefined, effectivePeriod: { start: day(chance), end: '2026-01-02' } },
  ]);
  return [disturb(change(version, changed), chance)];
}

export function varyVaccination(version: Version, chance: Chance): Version[] {
  const status = chance.is(0.3)
    ? chance.pick(['not-done', 'entered-in-error', 'completed'])
    : version.resource.status;
  return [disturb(change(version, { status }), chance)];
}
