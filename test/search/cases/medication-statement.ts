import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

const ATC = 'http://www.whocc.no/atc';

/** Statements about what patients take. */
export const medicationStatements: SearchTable = {
  topic: 'elements',
  type: 'MedicationStatement',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:ms', 'S1')],
      status: 'active',
      category: concept('http://terminology.hl7.org/CodeSystem/medication-statement-category', 'outpatient'),
      medicationCodeableConcept: concept(ATC, 'C09AA05'),
      subject: to('Patient/@p'),
      context: to('Encounter/@a'),
      effectivePeriod: { start: '2020-01-01', end: '2020-02' },
      informationSource: to('Patient/@p'),
      partOf: [to('MedicationStatement/@b'), to('Procedure/@a')],
    },
    b: {
      status: 'completed',
      medicationReference: to('Medication/@a'),
      subject: to('Patient/@q'),
      effectiveDateTime: '2021-03-04',
      informationSource: to('Practitioner/@a'),
    },
  },
  cases: [
    ...commonCases('MedicationStatement', 'a'),
    ['identifier=urn:ms|S1', 'a'],
    ['status=active', 'a'],
    ['status=active,completed', 'ab'],
    ['category=outpatient', 'a'],
    ['category:missing=true', 'b'],
    ['code=C09AA05', 'a'],
    [`code=${ATC}|C09AA05`, 'a'],
    ['code:not=C09AA05', 'b'],
    ['medication=Medication/@a', 'b'],
    ['medication:missing=true', 'a'],
    ['subject=Patient/@p', 'a'],
    ['patient=Patient/@q', 'b'],
    ['context=Encounter/@a', 'a'],
    ['effective=2020', 'a'],
    ['effective=2020-01', ''],
    ['effective=gt2020', 'b'],
    ['effective=ge2020-02-28', 'ab'],
    ['effective=ge2020-02-29', 'b'],
    ['effective=eb2021', 'a'],
    ['effective=2021-03-04', 'b'],
    ['source=Patient/@p', 'a'],
    ['source:Practitioner=@Practitioner/a', 'b'],
    ['part-of=MedicationStatement/@b', 'a'],
    ['part-of=Procedure/@a', 'a'],
  ],
};
