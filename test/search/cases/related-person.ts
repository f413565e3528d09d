import {
  commonCases,
  concept,
  identifier,
  MARKED,
  type SearchTable,
  to,
} from '#test/support/search/table.ts';

const ROLE = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode';

/** Related persons. */
export const relatedPersons: SearchTable = {
  topic: 'elements',
  type: 'RelatedPerson',
  resources: {
    a: {
      ...MARKED,
      identifier: [identifier('urn:rel', 'RP1')],
      active: true,
      patient: to('Patient/@p'),
      relationship: [concept(ROLE, 'WIFE'), concept(ROLE, 'NOK')],
      name: [{ family: 'Müller', given: ['Anna'] }],
      telecom: [
        { system: 'phone', value: '111' },
        { system: 'email', value: 'anna@home.example' },
      ],
      gender: 'female',
      birthDate: '1981-07-01',
      address: [
        { use: 'home', line: ['Garten 9'], city: 'Köln', state: 'NRW', postalCode: '50667', country: 'DE' },
      ],
    },
    b: {
      active: false,
      patient: to('Patient/@q'),
      relationship: [concept(ROLE, 'BRO')],
      name: [{ text: 'Muller the brother' }],
      gender: 'male',
      birthDate: '1990',
      address: [{ use: 'work', city: 'Kiel', country: 'DE' }],
    },
  },
  cases: [
    ...commonCases('RelatedPerson', 'a'),
    ['identifier=RP1', 'a'],
    ['active=true', 'a'],
    ['patient=Patient/@p', 'a'],
    ['patient=Patient/@p,Patient/@q', 'ab'],
    ['relationship=NOK', 'a'],
    ['relationship:not=NOK', 'b'],
    [`relationship=${ROLE}|BRO`, 'b'],
    ['name=mull', 'ab'],
    ['name=müll', 'ab'],
    ['name:exact=Müller', 'a'],
    ['name=brother', ''],
    ['phonetic=anna', 'a'],
    ['phone=111', 'a'],
    ['email=anna@home.example', 'a'],
    ['email=111', ''],
    ['telecom=111', 'a'],
    ['gender=male', 'b'],
    ['birthdate=1981', 'a'],
    ['birthdate=ge1981-07-01', 'ab'],
    ['birthdate=lt1985', 'a'],
    ['address=garten', 'a'],
    ['address-city=koln', 'a'],
    ['address-country=de', 'ab'],
    ['address-state=nrw', 'a'],
    ['address-postalcode=50667', 'a'],
    ['address-use=work', 'b'],
  ],
};
