import { concept, type SearchTable, to, ucum } from '#test/support/search/table.ts';

const LOINC = 'http://loinc.org';
const of = { status: 'final', subject: to('Patient/@p') } as const;
const pressure = (systolic: number, diastolic: number) => ({
  ...of,
  code: concept(LOINC, '85354-9'),
  component: [
    { code: concept(LOINC, '8480-6'), valueQuantity: ucum(systolic, 'mm[Hg]') },
    { code: concept(LOINC, '8462-4'), valueQuantity: ucum(diastolic, 'mm[Hg]') },
  ],
});

/** Composites match within one component, not across a resource: https://hl7.org/fhir/R4/search.html#composite */
export const observationComposites: SearchTable = {
  topic: 'composites',
  type: 'Observation',
  resources: {
    j: pressure(140, 90),
    k: pressure(90, 60),
    l: { ...of, code: concept(LOINC, '2339-0'), valueQuantity: ucum(6.3, 'mmol/L') },
    m: { ...of, code: concept(LOINC, '882-1'), valueCodeableConcept: concept('urn:blood', 'A') },
    n: {
      ...of,
      code: concept(LOINC, '882-1'),
      valueCodeableConcept: concept('urn:blood', 'B'),
      component: [
        { code: concept('urn:own', 'rhesus'), valueCodeableConcept: concept('urn:blood', 'pos') },
        { code: concept('urn:own', 'kell'), valueCodeableConcept: concept('urn:blood', 'neg') },
      ],
    },
    o: { ...of, code: concept('urn:own', 'diary'), valueString: 'Rainy, $5 spent' },
    t: { ...of, code: concept('urn:own', 'due'), valueDateTime: '2021-08-15' },
    u: {
      ...of,
      code: concept('urn:own', 'leave'),
      valuePeriod: { start: '2021-08-10', end: '2021-08-20' },
    },
  },
  cases: [
    ['component-code-value-quantity=http://loinc.org|8480-6$140', 'j'],
    ['component-code-value-quantity=8480-6$90', 'k'],
    // The value 90 exists, but in the other component.
    ['component-code-value-quantity=8462-4$90', 'j'],
    ['component-code-value-quantity=8480-6$gt100', 'j'],
    ['component-code-value-quantity=8480-6$lt100', 'k'],
    ['component-code-value-quantity=8480-6$ge90', 'jk'],
    ['component-code-value-quantity=8480-6$140|http://unitsofmeasure.org|mm[Hg]', 'j'],
    ['component-code-value-quantity=8480-6$140,8462-4$60', 'jk'],
    ['component-code-value-quantity=8480-6$140&component-code-value-quantity=8462-4$60', ''],
    ['component-code-value-quantity=8480-6$140&component-code-value-quantity=8462-4$90', 'j'],
    ['component-code-value-quantity=85354-9$140', ''],
    ['combo-code-value-quantity=8480-6$gt100', 'j'],
    ['combo-code-value-quantity=2339-0$6.3', 'l'],
    ['combo-code-value-quantity=http://loinc.org|2339-0$6.3|http://unitsofmeasure.org|mmol/L', 'l'],
    ['combo-code-value-quantity=85354-9$140', ''],
    ['code-value-quantity=2339-0$6.3', 'l'],
    ['code-value-quantity=2339-0$gt7', ''],
    ['code-value-quantity=8480-6$140', ''],
    ['code-value-concept=882-1$urn:blood|A', 'm'],
    ['code-value-concept=882-1$A,882-1$B', 'mn'],
    ['code-value-concept=rhesus$pos', ''],
    ['component-code-value-concept=rhesus$pos', 'n'],
    ['component-code-value-concept=rhesus$neg', ''],
    ['component-code-value-concept=urn:own|kell$urn:blood|neg', 'n'],
    ['combo-code-value-concept=882-1$B', 'n'],
    ['combo-code-value-concept=rhesus$pos', 'n'],
    ['combo-code-value-concept=882-1$pos', ''],
    ['code-value-string=diary$rainy', 'o'],
    ['code-value-string=urn:own|diary$rain', 'o'],
    ['code-value-string=diary$rainy\\, \\$5', 'o'],
    ['code-value-string=diary$sunny', ''],
    ['code-value-date=due$2021-08-15', 't'],
    ['code-value-date=due$2021', 't'],
    ['code-value-date=leave$2021-08', 'u'],
    ['code-value-date=leave$gt2021-08-19', 'u'],
    ['code-value-date=due$gt2021-08-15', ''],
    ['code-value-date=due$ge2021-08-15,leave$sa2021-08-09', 'tu'],
  ],
};
