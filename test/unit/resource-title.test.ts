import { expect } from 'chai';
import { codesToName, resourceTitle } from '#src/cli/record/resource-title.ts';

describe('the title of a resource on a terminal', () => {
  const cases: readonly (readonly [string, object, string])[] = [
    [
      'Condition',
      { code: { text: 'Hypertension' }, clinicalStatus: { coding: [{ code: 'active' }] } },
      'Hypertension, active',
    ],
    [
      'Observation',
      { status: 'final', code: { text: 'Creatinine' }, valueQuantity: { value: 1.5, unit: 'mg/dL' } },
      'Creatinine, 1.5 mg/dL',
    ],
    ['Patient', { name: [{ given: ['Ida'], family: 'Lund' }] }, 'Ida Lund'],
    ['Organization', { name: 'Harbour Street Clinic' }, 'Harbour Street Clinic'],
    [
      'MedicationRequest',
      { status: 'active', medicationCodeableConcept: { text: 'Metformin' } },
      'Metformin, active',
    ],
    ['RelatedPerson', { name: [{ text: 'A. Lund' }], relationship: [{ text: 'mother' }] }, 'A. Lund, mother'],
    ['Provenance', { target: [] }, ''],
    ['DiagnosticReport', { status: 'final', code: { text: 'x'.repeat(90) } }, `${'x'.repeat(59)}…`],
  ];
  for (const [type, resource, title] of cases) {
    it(`${type}: ${title}`, () => {
      expect(resourceTitle(type, JSON.stringify({ resourceType: type, ...resource }))).to.equal(title);
    });
  }

  it('names codes that the resource has no words for', () => {
    const coded = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
    const body = JSON.stringify({
      resourceType: 'Observation',
      status: 'final',
      code: coded('85354-9'),
      component: [{ code: coded('8480-6'), valueInteger: 120 }],
    });
    expect(codesToName([body, body]).map(({ code }) => code)).to.deep.equal(['85354-9', '8480-6']);
    const names = new Map([
      ['http://loinc.org|85354-9', 'Blood pressure'],
      ['http://loinc.org|8480-6', 'Systolic'],
    ]);
    expect(resourceTitle('Observation', body, names)).to.equal('Blood pressure, Systolic 120');
    expect(resourceTitle('Observation', body)).to.equal('LOINC 85354-9, LOINC 8480-6 120');
  });
});
