import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  ucum,
} from '#test/support/search/table.ts';

const CONTEXT = 'http://terminology.hl7.org/CodeSystem/usage-context-type';

/** Concept maps. */
export const conceptMaps: SearchTable = {
  topic: 'elements',
  type: 'ConceptMap',
  resources: {
    a: {
      ...MARKED,
      url: 'http://tables.example/ConceptMap/paint',
      identifier: identifier('urn:cm', 'CM1'),
      version: '3',
      name: 'Paint',
      title: 'Paints as colours',
      status: 'active',
      date: '2022-01-01',
      publisher: 'Acme Standards',
      description: 'From shelf to wall',
      useContext: [
        { code: { system: CONTEXT, code: 'venue' }, valueCodeableConcept: concept('urn:focus', 'shop') },
        { code: { system: CONTEXT, code: 'age' }, valueQuantity: ucum(3, 'a') },
      ],
      jurisdiction: [concept('urn:iso:std:iso:3166', 'DK')],
      sourceUri: 'http://tables.example/ValueSet/paints',
      targetUri: 'http://tables.example/ValueSet/colours',
      group: [
        {
          source: 'http://tables.example/CodeSystem/paints',
          target: 'http://tables.example/CodeSystem/colours',
          element: [
            {
              code: 'P1',
              target: [
                {
                  code: 'red',
                  equivalence: 'equivalent',
                  dependsOn: [{ property: 'http://tables.example/property/base', value: 'oil' }],
                  product: [{ property: 'http://tables.example/property/shade', value: 'dark' }],
                },
              ],
            },
          ],
          unmapped: { mode: 'other-map', url: 'http://tables.example/ConceptMap/other' },
        },
      ],
    },
    b: {
      url: 'http://tables.example/ConceptMap/other',
      name: 'Other',
      status: 'draft',
      sourceCanonical: 'http://tables.example/ValueSet/paints|1',
      targetCanonical: 'http://tables.example/ValueSet/colours',
    },
  },
  cases: [
    ...commonCases('ConceptMap', 'a'),
    ['url=http://tables.example/ConceptMap/paint', 'a'],
    ['identifier=CM1', 'a'],
    ['version=3', 'a'],
    ['name=paint', 'a'],
    ['title=paints', 'a'],
    ['status=draft', 'b'],
    ['date=2022', 'a'],
    ['date:missing=true', 'b'],
    ['publisher=acme', 'a'],
    ['description=from', 'a'],
    ['context=shop', 'a'],
    ['context-quantity=3', 'a'],
    ['context-type=venue', 'a'],
    ['context-type-quantity=age$3', 'a'],
    ['context-type-quantity=venue$3', ''],
    ['context-type-value=venue$shop', 'a'],
    ['context-type-value=age$shop', ''],
    ['jurisdiction=DK', 'a'],
    ['source=http://tables.example/ValueSet/paints', 'b'],
    ['source=http://tables.example/ValueSet/paints|1', 'b'],
    // A canonical is also a uri.
    ['source-uri=http://tables.example/ValueSet/paints', 'ab'],
    ['target=http://tables.example/ValueSet/colours', 'b'],
    ['target-uri=http://tables.example/ValueSet/colours', 'ab'],
    ['source-system=http://tables.example/CodeSystem/paints', 'a'],
    ['target-system=http://tables.example/CodeSystem/colours', 'a'],
    ['source-code=P1', 'a'],
    ['target-code=red', 'a'],
    ['dependson=http://tables.example/property/base', 'a'],
    ['product=http://tables.example/property/shade', 'a'],
    ['other=http://tables.example/ConceptMap/other', 'a'],
  ],
};
