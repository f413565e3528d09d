import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

/** Goals. */
export const goals: SearchTable = {
  topic: 'elements',
  type: 'Goal',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:goal', 'G1')],
      lifecycleStatus: 'active',
      achievementStatus: concept('http://terminology.hl7.org/CodeSystem/goal-achievement', 'improving'),
      category: [concept('http://terminology.hl7.org/CodeSystem/goal-category', 'dietary')],
      description: { text: 'Lose weight' },
      subject: to('Patient/@p'),
      startDate: '2015-04-05',
      target: [{ dueDate: '2016-04-05' }, { dueDate: '2017' }],
    },
    b: {
      lifecycleStatus: 'on-hold',
      description: { text: 'Walk' },
      subject: to('Patient/@q'),
      startCodeableConcept: concept('urn:start', 'admission'),
      target: [{ dueDuration: { value: 3, unit: 'wk', system: 'http://unitsofmeasure.org', code: 'wk' } }],
    },
  },
  cases: [
    ...commonCases('Goal', 'a'),
    ['identifier=G1', 'a'],
    ['lifecycle-status=active', 'a'],
    ['lifecycle-status:not=active', 'b'],
    ['achievement-status=improving', 'a'],
    ['category=dietary', 'a'],
    ['subject=Patient/@q', 'b'],
    ['patient=Patient/@p', 'a'],
    ['start-date=2015-04', 'a'],
    ['start-date=2015-04-05', 'a'],
    ['start-date:missing=true', 'b'],
    ['target-date=2016', 'a'],
    ['target-date=2017', 'a'],
    ['target-date=2017-01', ''],
    ['target-date=ge2016-04-06', 'a'],
    ['target-date:missing=true', 'b'],
  ],
};
