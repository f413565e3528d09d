import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  ucum,
} from '#test/support/search/table.ts';

const CONTEXT = 'http://terminology.hl7.org/CodeSystem/usage-context-type';
const UCUM = 'http://unitsofmeasure.org';

/** Value sets. */
export const valueSets: SearchTable = {
  topic: 'elements',
  type: 'ValueSet',
  resources: {
    a: {
      ...MARKED,
      url: 'http://tables.example/ValueSet/warm',
      identifier: [identifier('urn:vs', 'VS1')],
      version: '5',
      name: 'Warm',
      title: 'Warm colours',
      status: 'draft',
      date: '2020-02-02T10:00:00Z',
      publisher: 'Acme Standards',
      description: 'Colours of fire',
      useContext: [
        { code: { system: CONTEXT, code: 'focus' }, valueCodeableConcept: concept('urn:focus', 'paint') },
        { code: { system: CONTEXT, code: 'age' }, valueQuantity: ucum(24, 'mo') },
      ],
      jurisdiction: [concept('urn:iso:std:iso:3166', 'SE')],
      compose: {
        include: [{ system: 'http://tables.example/CodeSystem/colours', concept: [{ code: 'red' }] }],
      },
    },
    b: {
      url: 'http://tables.example/ValueSet/cold',
      version: '6',
      name: 'Cold',
      status: 'active',
      date: '2021',
      publisher: 'Blue Ltd',
      compose: { include: [{ system: 'http://tables.example/CodeSystem/ice' }] },
      expansion: {
        identifier: 'urn:uuid:42316ff8-2714-4680-9980-f37a6d1a71bc',
        timestamp: '2021-01-01',
        contains: [{ system: 'http://tables.example/CodeSystem/ice', code: 'blue' }],
      },
    },
  },
  cases: [
    ...commonCases('ValueSet', 'a'),
    ['url=http://tables.example/ValueSet/warm', 'a'],
    ['identifier=urn:vs|VS1', 'a'],
    ['version=6', 'b'],
    ['name=warm', 'a'],
    ['title=warm', 'a'],
    ['status=active', 'b'],
    ['status:not=active', 'a'],
    ['date=2020-02-02', 'a'],
    ['date=ge2021', 'b'],
    ['publisher=acme,blue', 'ab'],
    ['description=colours', 'a'],
    ['context=paint', 'a'],
    [`context-quantity=2|${UCUM}|a`, 'a'],
    [`context-quantity=24|${UCUM}|mo`, 'a'],
    ['context-type=focus', 'a'],
    [`context-type-quantity=age$24|${UCUM}|mo`, 'a'],
    ['context-type-quantity=focus$24', ''],
    ['context-type-value=focus$paint', 'a'],
    ['jurisdiction=SE', 'a'],
    ['expansion=urn:uuid:42316ff8-2714-4680-9980-f37a6d1a71bc', 'b'],
    ['reference=http://tables.example/CodeSystem/ice', 'b'],
    ['code=red', 'a'],
    ['code=blue', 'b'],
  ],
};
