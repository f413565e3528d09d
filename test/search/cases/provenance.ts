import { commonCases, concept, MARKED, type SearchTable, to } from '#test/support/search/table.ts';

const AGENT = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';
const CLASS = 'http://terminology.hl7.org/CodeSystem/contractsignertypecodes';

/** Clients' own Provenances, along with the Provenances created by the writes for all tables. */
export const provenances: SearchTable = {
  topic: 'elements',
  type: 'Provenance',
  resources: {
    a: {
      ...MARKED,
      target: [to('Patient/@p'), to('Observation/@a')],
      occurredDateTime: '2015-06-26',
      recorded: '2015-06-27T08:39:24+10:00',
      location: to('Location/@a'),
      agent: [
        {
          type: concept(AGENT, 'author'),
          role: [concept(CLASS, 'AUTHN')],
          who: to('Practitioner/@a'),
        },
        { type: concept(AGENT, 'custodian'), who: to('Organization/@a') },
      ],
      entity: [{ role: 'source', what: to('DocumentReference/@a') }],
      signature: [
        {
          type: [{ system: 'urn:iso-astm:E1762-95:2013', code: '1.2.840.10065.1.12.1.1' }],
          when: '2015-08-27T08:39:24+10:00',
          who: to('Practitioner/@a'),
        },
      ],
    },
    b: {
      target: [to('Observation/@z')],
      occurredPeriod: { start: '2016-01-01' },
      recorded: '2016-01-01T00:00:00Z',
      agent: [{ type: concept(AGENT, 'performer'), who: to('Device/@a') }],
    },
  },
  cases: [
    ...commonCases('Provenance', 'a'),
    ['target=Observation/@a', 'a'],
    ['target=Patient/@p', 'a'],
    ['target:Observation=@Observation/z', 'b'],
    ['target=Observation/@a,Observation/@z', 'ab'],
    // R4: only Provenances whose target is the Patient, not everything in the record.
    ['patient=Patient/@p', 'a'],
    ['patient=Patient/@q', ''],
    ['agent=Practitioner/@a', 'a'],
    ['agent=Organization/@a', 'a'],
    ['agent:Device=@Device/a', 'b'],
    ['agent-type=author&recorded=2015', 'a'],
    [`agent-type=${AGENT}|custodian`, 'a'],
    ['agent-type=performer', 'b'],
    ['agent-role=AUTHN', 'a'],
    ['entity=DocumentReference/@a', 'a'],
    ['location=Location/@a', 'a'],
    ['recorded=2015-06-26', 'a'],
    ['recorded=2015-06-26T22:39:24Z', 'a'],
    ['recorded=lt2017', 'ab'],
    ['recorded=2016-01-01T00:00:00Z', 'b'],
    ['signature-type=1.2.840.10065.1.12.1.1', 'a'],
    ['signature-type=urn:iso-astm:E1762-95:2013|1.2.840.10065.1.12.1.1', 'a'],
    ['when=2015-06-26', 'a'],
    ['when=ge2015', 'a'],
    ['when:missing=true&agent-type=performer', 'b'],
    ['recorded=lt2017&_sort=recorded', 'ab'],
    ['recorded=lt2017&_sort=-recorded', 'ba'],
  ],
};
