import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

/** Care teams. */
export const careTeams: SearchTable = {
  topic: 'elements',
  type: 'CareTeam',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:team', 'CT1')],
      status: 'active',
      category: [concept('http://loinc.org', 'LA27976-2')],
      subject: to('Patient/@p'),
      encounter: to('Encounter/@b'),
      period: { start: '2018-01-01T00:00:00+14:00', end: '2018-12-31' },
      participant: [{ member: to('Patient/@p') }, { member: to('Practitioner/@a') }],
    },
    b: {
      status: 'proposed',
      subject: to('Patient/@q'),
      period: { start: '2018-01-01' },
      participant: [{ member: to('CareTeam/@a') }, { member: to('Organization/@a') }],
    },
  },
  cases: [
    ...commonCases('CareTeam', 'a'),
    ['identifier=CT1', 'a'],
    ['status=active', 'a'],
    ['status=http://hl7.org/fhir/care-team-status|proposed', 'b'],
    ['category=LA27976-2', 'a'],
    ['subject=Patient/@p', 'a'],
    ['patient=Patient/@q', 'b'],
    ['encounter=Encounter/@b', 'a'],
    // The period began at ten in the morning UTC on the last day of 2017.
    ['date=2018', ''],
    ['date=lt2018', 'a'],
    ['date=ge2019', 'b'],
    ['date=le2017-12-31', ''],
    ['date=le2018-01-01', 'a'],
    ['participant=Practitioner/@a', 'a'],
    ['participant:CareTeam=@CareTeam/a', 'b'],
    ['participant=Patient/@p,Organization/@a', 'ab'],
    ['participant=Patient/@p&participant=Organization/@a', ''],
  ],
};
