import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

const ATC = 'http://www.whocc.no/atc';

/** Medications. */
export const medications: SearchTable = {
  topic: 'elements',
  type: 'Medication',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:med', 'M1')],
      code: concept(ATC, 'C09AA05', 'Ramipril'),
      status: 'active',
      manufacturer: to('Organization/@a'),
      form: concept('urn:form', 'tablet'),
      ingredient: [{ itemCodeableConcept: concept('urn:sub', 'ramipril') }],
      batch: { lotNumber: 'LOT-9', expirationDate: '2027-05' },
    },
    b: {
      code: concept(ATC, 'N02BE01'),
      status: 'inactive',
      form: concept('urn:form', 'syrup'),
      ingredient: [
        { itemReference: to('Medication/@a') },
        { itemCodeableConcept: concept('urn:sub', 'sugar') },
      ],
      batch: { lotNumber: 'LOT-10', expirationDate: '2026-11-30' },
    },
    c: { code: { text: 'Herbs' } },
  },
  cases: [
    ...commonCases('Medication', 'a'),
    ['identifier=urn:med|M1', 'a'],
    ['code=C09AA05', 'a'],
    [`code=${ATC}|N02BE01`, 'b'],
    [`code=${ATC}|`, 'ab'],
    ['code:not=C09AA05', 'bc'],
    ['code:text=herb', 'c'],
    ['code:text=ramipril', 'a'],
    ['status=active', 'a'],
    ['status:missing=true', 'c'],
    ['manufacturer=Organization/@a', 'a'],
    ['form=tablet,syrup', 'ab'],
    ['form=urn:form|syrup', 'b'],
    ['ingredient=Medication/@a', 'b'],
    ['ingredient-code=sugar', 'b'],
    ['ingredient-code=ramipril', 'a'],
    ['lot-number=LOT-9', 'a'],
    ['lot-number=LOT', ''],
    ['expiration-date=2027', 'a'],
    ['expiration-date=lt2027', 'b'],
    ['expiration-date=ge2026-11-30', 'ab'],
    ['expiration-date=2027-05-15', ''],
  ],
};
