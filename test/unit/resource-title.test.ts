import { expect } from 'chai';
import { resourceTitle } from '#src/cli/resource-title.ts';

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
});
