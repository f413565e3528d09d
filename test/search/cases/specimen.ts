import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

/** Specimens. */
export const specimens: SearchTable = {
  topic: 'elements',
  type: 'Specimen',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:spec', 'SP1')],
      accessionIdentifier: identifier('urn:acc', 'X352356'),
      status: 'available',
      type: concept('http://terminology.hl7.org/CodeSystem/v2-0487', 'VB'),
      subject: to('Patient/@p'),
      parent: [to('Specimen/@b')],
      collection: {
        collector: to('Practitioner/@a'),
        collectedDateTime: '2011-05-30T06:15:00Z',
        bodySite: concept('urn:site', 'arm'),
      },
      container: [
        { identifier: [identifier('urn:tube', 'T1')], type: concept('urn:container', 'gel-tube') },
        { identifier: [identifier('urn:tube', 'T2')], type: concept('urn:container', 'cup') },
      ],
    },
    b: {
      status: 'unavailable',
      subject: to('Patient/@q'),
      collection: { collectedPeriod: { start: '2011-05-29', end: '2011-05-31' } },
    },
  },
  cases: [
    ...commonCases('Specimen', 'a'),
    ['identifier=SP1', 'a'],
    ['accession=urn:acc|X352356', 'a'],
    ['accession=SP1', ''],
    ['status=available', 'a'],
    ['type=VB', 'a'],
    ['subject=Patient/@p', 'a'],
    ['patient=Patient/@q', 'b'],
    ['parent=Specimen/@b', 'a'],
    ['collector=Practitioner/@a', 'a'],
    ['collected=2011-05-30', 'a'],
    ['collected=2011-05', 'ab'],
    ['collected=gt2011-05-30', 'b'],
    ['collected=lt2011-05-30', 'b'],
    ['collected=ap2011-05-30', 'ab'],
    ['bodysite=arm', 'a'],
    ['container=cup', 'a'],
    ['container=gel-tube&container=cup', 'a'],
    ['container-id=T2', 'a'],
    ['container-id=urn:tube|T1', 'a'],
    ['container-id=urn:tube|T3', ''],
  ],
};
