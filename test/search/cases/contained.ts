import { concept, type SearchTable, to } from '#test/support/search/table.ts';

const ATC = 'http://www.whocc.no/atc';

/** A prescription without its drug and its prescriber. */
const prescribed = { status: 'active', intent: 'order', subject: to('Patient/@p') } as const;

/** Chains into contained resources: https://hl7.org/fhir/R4/references.html#contained */
export const containedInRequests: SearchTable = {
  topic: 'chains into contained resources',
  type: 'MedicationRequest',
  resources: {
    // The medication and the prescriber are contained; the medication's manufacturer isn't.
    f: {
      ...prescribed,
      contained: [
        {
          resourceType: 'Medication',
          id: 'drug',
          code: concept(ATC, 'B01AA03', 'Warfarin'),
          manufacturer: to('Organization/@a'),
        },
        { resourceType: 'Practitioner', id: 'doc', name: [{ family: 'Ørsted', given: ['Hans'] }] },
      ],
      medicationReference: to('#drug'),
      requester: to('#doc'),
    },
    // All of them are contained, one referring to another; the prescriber has a gender.
    g: {
      ...prescribed,
      contained: [
        {
          resourceType: 'Medication',
          id: 'drug',
          code: concept(ATC, 'C07AB02'),
          manufacturer: to('#maker'),
        },
        { resourceType: 'Organization', id: 'maker', name: 'Lindqvist Pharma' },
        { resourceType: 'Practitioner', id: 'doc', name: [{ family: 'Straße' }], gender: 'female' },
      ],
      medicationReference: to('#drug'),
      requester: to('#doc'),
    },
    // Nothing refers to the practitioner as the prescriber.
    h: {
      ...prescribed,
      contained: [
        { resourceType: 'Practitioner', id: 'doc', name: [{ family: 'Ørsted' }] },
        { resourceType: 'Organization', id: 'site', name: 'Lindqvist Clinic' },
      ],
      medicationCodeableConcept: concept(ATC, 'B01AA03'),
      requester: to('#site'),
      performer: to('#doc'),
    },
  },
  cases: [
    ['medication.code=B01AA03', 'f'],
    [`medication.code=${ATC}|C07AB02`, 'g'],
    ['medication:Medication.code=B01AA03,C07AB02', 'fg'],
    ['medication.code:text=warf', 'f'],
    ['medication.code:not=B01AA03', 'g'],
    ['medication.code:missing=false', 'fg'],
    ['medication.manufacturer.name=saint', 'f'],
    ['medication.manufacturer=Organization/@a', 'f'],
    ['medication.manufacturer.name=lindqvist', 'g'],
    ['medication.manufacturer.name=lindqvist clinic', ''],
    ['requester.name=orsted', 'f'],
    ['requester:Practitioner.name=orsted', 'f'],
    ['requester:Organization.name=orsted', ''],
    ['requester.name=lindqvist', 'h'],
    ['intended-performer.name=orsted', 'h'],
    ['requester:Practitioner.family:exact=Straße', 'g'],
    ['requester:Practitioner.gender:missing=true', 'f'],
    ['requester:Practitioner.gender=female', 'g'],
    ['requester.name=orsted&medication.code=B01AA03', 'f'],
    ['requester.name=orsted&medication.code=C07AB02', ''],
    ['requester.name=orsted&patient=Patient/@p', 'f'],
    ['requester.name=orsted&patient=Patient/@q', ''],
    ['patient.name=ake&medication.code=B01AA03', 'f'],
    ['_sort=-_id&medication.code=B01AA03,C07AB02', 'fg'],
  ],
};

/** Contained resources are found only through chains. */
export const containedAlone: SearchTable = {
  topic: 'contained ones alone',
  type: 'Medication',
  resources: { x: { code: concept(ATC, 'C07AB02') } },
  cases: [
    ['code=C07AB02', 'x'],
    ['code=B01AA03', ''],
    ['manufacturer.name=lindqvist', ''],
  ],
};
