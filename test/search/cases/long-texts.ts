import type { SearchTable } from '#test/support/search/table.ts';

/** Returns a text so long that an index row contains only its beginning. */
const long = (middle: string, end: string) =>
  `${'lorem ipsum '.repeat(35)}${middle}${' dolor sit'.repeat(30)} ${end}`;
/** The cut after 500 characters falls between the two halves of a surrogate pair. */
const halved = `${'x'.repeat(499)}\u{1f600}tail`;

/** Texts longer than an index row, and special letters that don't consist of a base letter and an accent. */
export const longTexts: SearchTable = {
  topic: 'long texts and special letters',
  type: 'Practitioner',
  resources: {
    k: { name: [{ text: long('cat', 'one') }] },
    l: { name: [{ text: long('cat', 'two') }] },
    m: { name: [{ text: halved }] },
    n: { name: [{ family: 'Bjørnæs', given: ['Þór', 'Đorđe'] }] },
    o: { name: [{ family: 'Wałęsa', given: ['Œuvre', 'Weiß'] }] },
    u: { name: [{ family: 'ΠΑΠΑΔΌΠΟΥΛΟΣ', given: ['IŞIL', 'Işık'] }] },
  },
  cases: [
    ['name:contains=two', 'l'],
    ['name:contains=sit one', 'k'],
    ['name:contains=cat dolor', 'kl'],
    [`name:contains=${long('cat', 'one')}`, 'k'],
    [`name=${long('cat', '')}`, 'kl'],
    [`name=${long('cat', 'two')}`, 'l'],
    [`name=${long('cat', 'tw')}`, 'l'],
    [`name=${long('cow', 'two')}`, ''],
    [`name=${long('cat', 'three')}`, ''],
    [`name:exact=${long('cat', 'one')}`, 'k'],
    [`name:exact=${long('cat', 'on')}`, ''],
    [`name=${halved}`, 'm'],
    [`name=${'x'.repeat(499)}`, 'm'],
    ['name:contains=\u{1f600}tai', 'm'],
    ['family=bjornaes', 'n'],
    ['family=BJØRN', 'n'],
    ['given=thor', 'n'],
    ['given=Dorde', 'n'],
    ['family=walesa', 'o'],
    ['given=oeuv', 'o'],
    ['given=weiss', 'o'],
    ['given:contains=eis', 'o'],
    ['family:exact=Bjornaes', ''],
    ['family=παπαδοπουλοσ', 'u'],
    ['family=ΠΑΠΑΔΟΠΟΥΛΟΣ', 'u'],
    ['given=isil', 'u'],
    ['given=ISIK', 'u'],
  ],
};

const PROFILE = 'http://example.org/fhir/StructureDefinition/versioned';

/** Canonicals with and without a version, and results sorted by tokens and references. */
export const sortedTokens: SearchTable = {
  topic: 'profiles and orders of tokens and references',
  type: 'Condition',
  resources: {
    s: {
      meta: { profile: [`${PROFILE}|1.0`] },
      subject: { reference: 'Patient/@p' },
      clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active'),
      code: {
        coding: [
          { system: 'urn:b', code: 'b' },
          { system: 'urn:a', code: 'a' },
        ],
      },
    },
    t: {
      meta: { profile: [PROFILE] },
      subject: { reference: 'Patient/@q' },
      clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'resolved'),
      code: coded('urn:a', 'b'),
    },
    v: {
      subject: { reference: 'Patient/@p' },
      clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active'),
      category: [
        coded('urn:k', 'm'),
        {
          coding: [
            { system: 'urn:k', code: 'd' },
            { system: 'urn:k', code: 'z' },
          ],
        },
      ],
      code: coded('urn:a', 'a-1'),
    },
    w: {
      subject: { reference: 'Patient/@q' },
      clinicalStatus: coded('http://terminology.hl7.org/CodeSystem/condition-clinical', 'active'),
      category: [coded('urn:k', 'e')],
      code: { text: 'without a code' },
    },
  },
  cases: [
    [`_profile=${PROFILE}`, 'st'],
    [`_profile=${PROFILE}|1.0`, 's'],
    [`_profile=${PROFILE}|2.0`, ''],
    [`_profile:below=${PROFILE}`, 'st'],
    ['_profile:below=http://example.org/fhir/StructureDefinition', 'st'],
    ['_sort=code', 'vtsw'],
    ['_sort=-code', 'stvw'],
    ['_sort=clinical-status,-code', 'svwt'],
    // If there are several values, the one that comes first in the requested order counts. Each value is sorted by its first
    // code.
    ['_sort=category,-code', 'vwst'],
    ['_sort=-category,code', 'vwts'],
  ],
};

function coded(system: string, code: string) {
  return { coding: [{ system, code }] };
}
