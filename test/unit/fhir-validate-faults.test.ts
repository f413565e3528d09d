/** One fault per case: its code and its place (docs/spec/decisions.md, section 5 "Writes"). */
import { expect } from 'chai';
import type { ResourceType } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';

type Members = Record<string, Json | undefined>;

/**
 * A type, the members that replace those of the example (undefined removes a member), and the place of the fault (without the
 * type).
 */
type Row = readonly [type: ResourceType, members: Members, path: string];

const text = { text: 'x' };
const name = (rest: JsonObject): Members => ({ name: [rest] });
const extended = (rest: JsonObject): Members => ({ extension: [{ url: 'http://x.org/e', ...rest }] });
const value = (rest: JsonObject): Members => ({ component: [{ code: text, ...rest }] });
const quantity = (rest: JsonObject): Members => value({ valueQuantity: rest });
const div = (markup: string): Members => ({ text: { status: 'generated', div: markup } });
const repeat = (rest: JsonObject): Members => ({
  effectiveDateTime: undefined,
  effectiveTiming: { repeat: rest },
});
const dose = (rest: JsonObject): Members => ({ dosage: [{ doseAndRate: [rest] }] });
const contained = (resource: JsonObject): Members => ({
  contained: [resource],
  focus: [{ reference: '#c' }],
});
const practitioner = { resourceType: 'Practitioner', id: 'c' };
const shadow = { extension: [{ url: 'http://x.org/e', valueCode: 'y' }] };
const HL7 = 'http://hl7.org/fhir/StructureDefinition';
const absent = { extension: [{ url: `${HL7}/data-absent-reason`, valueCode: 'unknown' }] };
const own = (rest: JsonObject): JsonObject => ({
  extension: [{ url: `${HL7}/humanname-own-prefix`, ...rest }],
});
const ucum = { system: 'http://unitsofmeasure.org' };

const FAULTS: Readonly<Record<string, readonly Row[]>> = {
  structure: [
    ['Patient', { foo: 1 }, '.foo'],
    ['Patient', { Gender: 'male' }, '.Gender'],
    ['Patient', { _name: [{ id: 'x' }] }, '.name'],
    ['Patient', { 'a.b`c': 1 }, '.`a.b\\`c`'],
    ['Patient', name({ given: ['a'], _given: [null, null, shadow] }), '.name[0].given[1]'],
    ['Patient', name({ text: 'x', _given: [null] }), '.name[0].given[0]'],
    ['Patient', { fhir_comments: ['x'] }, '.fhir_comments'],
    ['Patient', { contact: [{ name: { text: 'x', nick: 'y' } }] }, '.contact[0].name.nick'],
    ['Patient', { name: { text: 'x' } }, '.name'],
    ['Patient', { name: ['x'] }, '.name[0]'],
    ['Patient', { name: [{ text: 'a' }, 'x'] }, '.name[1]'],
    ['Patient', { name: [] }, '.name'],
    ['Patient', { name: [null] }, '.name[0]'],
    ['Patient', { name: null }, '.name'],
    ['Patient', { name: [{}] }, '.name[0]'],
    ['Patient', { name: [{ id: 'only' }] }, '.name[0]'],
    ['Patient', name({ given: 'x' }), '.name[0].given'],
    ['Patient', name({ given: [['x']] }), '.name[0].given[0]'],
    ['Patient', name({ given: ['a', null] }), '.name[0].given[1]'],
    ['Patient', name({ _given: [null, shadow] }), '.name[0].given[0]'],
    ['Patient', name({ given: ['a'], _given: { id: 'x' } }), '.name[0].given'],
    ['Patient', name({ given: ['a'], _given: [] }), '.name[0].given'],
    ['Patient', name({ given: ['a'], _given: ['x'] }), '.name[0].given[0]'],
    ['Patient', { gender: ['male'] }, '.gender'],
    ['Patient', { gender: { code: 'male' } }, '.gender'],
    ['Patient', { gender: null }, '.gender'],
    ['Patient', { _gender: 'x' }, '.gender'],
    ['Patient', { _gender: {} }, '.gender'],
    ['Patient', { gender: undefined, _gender: { id: 'x' } }, '.gender'],
    ['Patient', { _gender: { value: 'x' } }, '.gender.value'],
    ['Patient', { _gender: { id: 'x', foo: 1 } }, '.gender.foo'],
    ['Patient', { maritalStatus: 'M' }, '.maritalStatus'],
    ['Patient', { maritalStatus: [text] }, '.maritalStatus'],
    ['Patient', { maritalStatus: 5 }, '.maritalStatus'],
    ['Patient', { deceasedDateTime: '2020' }, '.deceased'],
    ['Patient', { _deceasedDateTime: shadow }, '.deceased'],
    ['Patient', { deceasedString: 'no' }, '.deceasedString'],
    ['Patient', { meta: {} }, '.meta'],
    ['Patient', { meta: [{ source: 'x' }] }, '.meta'],
    ['Patient', { meta: { project: 'x' } }, '.meta.project'],
    ['Patient', { text: 'x' }, '.text'],
    ['Patient', { text: { status: 'empty', div: ['x'] } }, '.text.div'],
    ['Observation', { component: undefined, valueString: 'x', valueBoolean: true }, '.value'],
    ['Observation', { value: 'x' }, '.value'],
    ['Observation', { valueAddress: text }, '.valueAddress'],
    ['Observation', value({ referenceRange: text }), '.component[0].referenceRange'],
    ['Observation', value({ referenceRange: [{ ...text, foo: 1 }] }), '.component[0].referenceRange[0].foo'],
    ['Observation', contained({ ...practitioner, foo: 1 }), '.contained[0].foo'],
    ['Observation', { contained: ['x'] }, '.contained[0]'],
    ['Location', { position: [{ longitude: 1, latitude: 1 }] }, '.position'],
  ],
  required: [
    ['Observation', { status: undefined }, '.status'],
    ['Observation', { component: [{ valueString: 'x' }] }, '.component[0].code'],
    ['Observation', { note: [{ authorString: 'x' }] }, '.note[0].text'],
    ['MedicationStatement', { medicationCodeableConcept: undefined }, '.medication'],
    ['Immunization', { occurrenceDateTime: undefined }, '.occurrence'],
    ['Provenance', { agent: [{ role: [text] }] }, '.agent[0].who'],
    [
      'Provenance',
      { entity: [{ role: 'source', what: { display: 'x' }, agent: [{ role: [text] }] }] },
      '.entity[0].agent[0].who',
    ],
    ['Patient', { text: { status: 'generated' } }, '.text.div'],
    ['Patient', { extension: [{ valueString: 'x' }] }, '.extension[0].url'],
    ['Patient', { modifierExtension: [{ valueString: 'x' }] }, '.modifierExtension[0].url'],
    ['Observation', contained({ resourceType: 'Condition', id: 'c' }), '.contained[0].subject'],
    ['Observation', contained({ id: 'c', name: [text] }), '.contained[0]'],
  ],
  value: [
    ['Patient', { birthDate: '' }, '.birthDate'],
    ['Patient', { birthDate: '1974-13-01' }, '.birthDate'],
    ['Patient', { birthDate: '2021-02-29' }, '.birthDate'],
    ['Patient', { birthDate: '1900-02-29' }, '.birthDate'],
    ['Patient', { birthDate: '2021-04-31' }, '.birthDate'],
    ['Patient', { birthDate: '0000-01-01' }, '.birthDate'],
    ['Patient', { birthDate: '74-01-01' }, '.birthDate'],
    ['Patient', { birthDate: '1974-1-1' }, '.birthDate'],
    ['Patient', { birthDate: '1974-12-25T10:00:00Z' }, '.birthDate'],
    ['Patient', { birthDate: 1974 }, '.birthDate'],
    ['Patient', { birthDate: true }, '.birthDate'],
    ['Patient', { active: 'true' }, '.active'],
    ['Patient', { active: 1 }, '.active'],
    ['Patient', { id: 'a b' }, '.id'],
    ['Patient', { id: 'x'.repeat(65) }, '.id'],
    ['Patient', { language: ' en' }, '.language'],
    ['Patient', { implicitRules: 'http://a b' }, '.implicitRules'],
    ['Patient', { multipleBirthInteger: 1.5 }, '.multipleBirth.ofType(integer)'],
    ['Patient', { multipleBirthInteger: 2147483648 }, '.multipleBirth.ofType(integer)'],
    ['Patient', { multipleBirthInteger: '1' }, '.multipleBirth.ofType(integer)'],
    ['Patient', name({ family: '' }), '.name[0].family'],
    ['Patient', name({ family: 'a\u0000b' }), '.name[0].family'],
    ['Patient', name({ family: 'a\u0007b' }), '.name[0].family'],
    ['Patient', name({ family: 'a\ud800b' }), '.name[0].family'],
    ['Patient', name({ family: 'x'.repeat(1_048_577) }), '.name[0].family'],
    ['Patient', name({ given: ['a', ''] }), '.name[0].given[1]'],
    ['Patient', name({ _family: { id: '' }, family: 'x' }), '.name[0].family.id'],
    ['Patient', { telecom: [{ system: 'phone', value: '5', rank: 0 }] }, '.telecom[0].rank'],
    ['Patient', { photo: [{ contentType: 'image/gif', data: 'R0lGO' }] }, '.photo[0].data'],
    ['Patient', { photo: [{ contentType: 'image/gif', data: 'R0l*' }] }, '.photo[0].data'],
    ['Patient', { photo: [{ contentType: 'image/gif', size: -1 }] }, '.photo[0].size'],
    ['Patient', { meta: { lastUpdated: '2020-01-01' } }, '.meta.lastUpdated'],
    ['Patient', { meta: { versionId: 'a/b' } }, '.meta.versionId'],
    ['Patient', { meta: { profile: ['a b'] } }, '.meta.profile[0]'],
    ['Patient', extended({ valueOid: '1.2.3' }), '.extension[0].value.ofType(oid)'],
    ['Patient', extended({ valueUuid: 'urn:uuid:1' }), '.extension[0].value.ofType(uuid)'],
    ['Patient', extended({ valueUrl: '' }), '.extension[0].value.ofType(url)'],
    ['Patient', extended({ valueCode: 'a  b' }), '.extension[0].value.ofType(code)'],
    ['Patient', extended({ valueCode: 'a ' }), '.extension[0].value.ofType(code)'],
    ['Patient', extended({ valueDecimal: '1.5' }), '.extension[0].value.ofType(decimal)'],
    ['Patient', extended({ valueTime: '24:00:00' }), '.extension[0].value.ofType(time)'],
    ['Patient', extended({ valueTime: '10:00' }), '.extension[0].value.ofType(time)'],
    ['Patient', extended({ valueTime: '10:00:00Z' }), '.extension[0].value.ofType(time)'],
    ['Patient', extended({ valueInstant: '2020-01-01T00:00:00' }), '.extension[0].value.ofType(instant)'],
    ['Patient', extended({ valueMarkdown: '' }), '.extension[0].value.ofType(markdown)'],
    ['Patient', extended({ valuePositiveInt: 0 }), '.extension[0].value.ofType(positiveInt)'],
    ['Patient', extended({ valueUnsignedInt: -1 }), '.extension[0].value.ofType(unsignedInt)'],
    ['Observation', { effectiveDateTime: '2020-01-01T10:00:00' }, '.effective.ofType(dateTime)'],
    ['Observation', { effectiveDateTime: '2020-01-01T10:00Z' }, '.effective.ofType(dateTime)'],
    ['Observation', { effectiveDateTime: '2020-01-01T25:00:00Z' }, '.effective.ofType(dateTime)'],
    ['Observation', { effectiveDateTime: '2020-01-01T10:00:00+15:00' }, '.effective.ofType(dateTime)'],
    ['Observation', { effectiveDateTime: '2020-01-01 10:00:00Z' }, '.effective.ofType(dateTime)'],
    ['Observation', { effectiveDateTime: '2020-02-30T10:00:00Z' }, '.effective.ofType(dateTime)'],
    ['Observation', { issued: '2020' }, '.issued'],
    ['Observation', { issued: '2020-01-01T10:00:61Z' }, '.issued'],
    ['Observation', { issued: '2020-01-01T10:00:00.Z' }, '.issued'],
    ['Observation', quantity({ value: '107' }), '.component[0].value.ofType(Quantity).value'],
    ['Observation', { subject: { reference: 'nonsense' } }, '.subject.reference'],
    ['Observation', { subject: { reference: 'patient/1' } }, '.subject.reference'],
    ['Observation', { subject: { reference: 'Patient/' } }, '.subject.reference'],
    ['Observation', { subject: { reference: 'Patient/a b' } }, '.subject.reference'],
    ['Observation', { subject: { reference: 'Patient/1/2' } }, '.subject.reference'],
    ['Observation', { subject: { reference: '' } }, '.subject.reference'],
    ['Observation', { subject: { reference: 'Practitioner/1' } }, '.subject'],
    ['Observation', { encounter: { reference: 'Patient/1/_history/2' } }, '.encounter'],
    [
      'Observation',
      { performer: [{ reference: 'Practitioner/1' }, { reference: 'Claim/1' }] },
      '.performer[1]',
    ],
    ['Observation', { performer: [{ reference: 'Device?identifier=x' }] }, '.performer[0]'],
    ['Observation', contained({ ...practitioner, resourceType: 'Nonsense' }), '.contained[0]'],
    ['Observation', contained({ ...practitioner, birthDate: 'x' }), '.contained[0].birthDate'],
    ['Patient', div('<div>'), '.text.div'],
    ['Patient', div('<p>x</p>'), '.text.div'],
    ['Patient', div('<div><p>x</div></p>'), '.text.div'],
    ['Patient', div('<div>a & b</div>'), '.text.div'],
    ['Patient', div('<div>a&nbsp;b</div>'), '.text.div'],
    ['Patient', div('<div>a&foobar;b</div>'), '.text.div'],
    ['Patient', div('<div>a&AMP;b</div>'), '.text.div'],
    ['Patient', div('<div><p title="&copy;">x</p></div>'), '.text.div'],
    ['Patient', div('<div>a&#0;b</div>'), '.text.div'],
    ['Patient', div('<div>a&#31;b</div>'), '.text.div'],
    ['Patient', div('<div>&amp;&#160;&lt; &</div>'), '.text.div'],
    ['Patient', div('<div>a&#xD800;b</div>'), '.text.div'],
    ['Patient', div('<div>a&#x110000;b</div>'), '.text.div'],
    ['Patient', { extension: [{ url: 'u', valueString: 'x' }] }, '.extension[0].url'],
    ['Patient', { modifierExtension: [{ url: '/u', valueString: 'x' }] }, '.modifierExtension[0].url'],
    [
      'Patient',
      name({ family: 'x', _family: { extension: [{ url: 'u', valueString: 'x' }] } }),
      '.name[0].family.extension[0].url',
    ],
    [
      'Patient',
      extended({ valueAddress: { city: 'x', extension: [{ url: 'u', valueString: 'x' }] } }),
      '.extension[0].value.ofType(Address).extension[0].url',
    ],
    ['Patient', div('<div>a</div><div>b</div>'), '.text.div'],
    ['Patient', div('<div class=a>x</div>'), '.text.div'],
    ['Patient', div('text'), '.text.div'],
    ['Patient', div('<div><!-- a -- b -->x</div>'), '.text.div'],
    ['Patient', div('<div>x<!-- a </div>'), '.text.div'],
    ['Patient', { photo: [{ contentType: 'image/gif', data: 'YQ=a' }] }, '.photo[0].data'],
    ['Patient', { photo: [{ contentType: 'image/gif', data: ' ' }] }, '.photo[0].data'],
  ],
  'code-invalid': [
    ['Patient', { gender: 'femal' }, '.gender'],
    ['Patient', { gender: 'F' }, '.gender'],
    ['Patient', name({ use: 'x', text: 'y' }), '.name[0].use'],
    ['Patient', { link: [{ other: { reference: 'Patient/1' }, type: 'same' }] }, '.link[0].type'],
    ['Patient', { photo: [{ contentType: 'gif' }] }, '.photo[0].contentType'],
    ['Patient', { text: { status: 'made', div: '<div>x</div>' } }, '.text.status'],
    [
      'Patient',
      extended({ valueMoney: { value: 1, currency: 'ZZZ' } }),
      '.extension[0].value.ofType(Money).currency',
    ],
    ['Observation', { status: 'Final' }, '.status'],
    ['Observation', { status: '' }, '.status'],
    ['Observation', { status: 7 }, '.status'],
    [
      'Observation',
      quantity({ value: 1, comparator: '~' }),
      '.component[0].value.ofType(Quantity).comparator',
    ],
    ['AllergyIntolerance', { category: ['food', 'foods'] }, '.category[1]'],
    ['AllergyIntolerance', { category: ['food', null], _category: [null, absent] }, '.category[1]'],
    ['Observation', { status: undefined, _status: absent }, '.status'],
    ['Patient', { link: [{ other: { display: 'x' }, _type: absent }] }, '.link[0].type'],
    ['Patient', { photo: [{ _contentType: absent }] }, '.photo[0].contentType'],
    ['Condition', { verificationStatus: absent }, '.verificationStatus'],
    ['AllergyIntolerance', { verificationStatus: text }, '.verificationStatus'],
    ['Condition', { verificationStatus: text }, '.verificationStatus'],
    ['Condition', { verificationStatus: { coding: [{ code: 'confirmed' }] } }, '.verificationStatus'],
    [
      'Condition',
      { verificationStatus: { coding: [{ system: 'http://x.org', code: 'confirmed' }] } },
      '.verificationStatus',
    ],
    ['Observation', repeat({ dayOfWeek: ['monday'] }), '.effective.ofType(Timing).repeat.dayOfWeek[0]'],
    ['Provenance', { entity: [{ role: 'author', what: { display: 'x' } }] }, '.entity[0].role'],
  ],
  extension: [
    ['Patient', extended({}), '.extension[0]'],
    ['Patient', extended({ valueString: 'x', extension: [{ url: 'u', valueCode: 'c' }] }), '.extension[0]'],
    ['Patient', extended({ extension: [{ url: 'u' }] }), '.extension[0].extension[0]'],
    ['Patient', { _gender: { extension: [{ url: 'http://x.org/e' }] } }, '.gender.extension[0]'],
    [
      'Patient',
      name({ family: 'x', _family: own({ valueInteger: 1 }) }),
      '.name[0].family.extension[0].value',
    ],
    [
      'Patient',
      name({ family: 'x', _family: own({ _valueCode: shadow }) }),
      '.name[0].family.extension[0].value',
    ],
    ['Patient', { extension: [{ url: `${HL7}/geolocation`, valueString: 'x' }] }, '.extension[0].value'],
    [
      'Patient',
      { extension: [{ url: `${HL7}/geolocation`, extension: [{ url: 'latitude', valueString: '1' }] }] },
      '.extension[0].extension[0].value',
    ],
    [
      'Patient',
      { modifierExtension: [{ url: `${HL7}/patient-birthTime`, valueDate: '2020-01-01' }] },
      '.modifierExtension[0].value',
    ],
  ],
  invariant: [
    ['Observation', { component: undefined, valueString: 'x', dataAbsentReason: text }, ''],
    [
      'Observation',
      {
        valueString: 'x',
        component: [{ code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] } }],
      },
      '',
    ],
    ['Observation', { referenceRange: [{ appliesTo: [text] }] }, '.referenceRange[0]'],
    [
      'Observation',
      {
        referenceRange: [{ low: { value: 2 }, high: { value: 1 } }].map((range) => ({
          ...range,
          age: range,
        })),
      },
      '.referenceRange[0].age',
    ],
    ['Observation', { referenceRange: [{ low: { value: 1, comparator: '<' } }] }, '.referenceRange[0].low'],
    ['Observation', quantity({ value: 1, code: 'mg' }), '.component[0].value.ofType(Quantity)'],
    ['Observation', value({ valueRatio: { numerator: { value: 1 } } }), '.component[0].value.ofType(Ratio)'],
    [
      'Observation',
      value({ valuePeriod: { start: '2020-02', end: '2020-01' } }),
      '.component[0].value.ofType(Period)',
    ],
    ['Observation', repeat({ period: 1 }), '.effective.ofType(Timing).repeat'],
    ['Observation', repeat({ period: -1, periodUnit: 'd' }), '.effective.ofType(Timing).repeat'],
    ['Observation', repeat({ when: ['C'], offset: 5 }), '.effective.ofType(Timing).repeat'],
    ['Observation', { performer: [{ reference: '#none' }] }, '.performer[0]'],
    ['Observation', { contained: [practitioner] }, '.contained[0]'],
    ['Observation', contained({ ...practitioner, meta: { versionId: '1' } }), '.contained[0]'],
    ['Observation', contained({ ...practitioner, meta: { security: [{ code: 'R' }] } }), '.contained[0]'],
    ['Patient', { contact: [{ gender: 'male' }] }, '.contact[0]'],
    ['Patient', { telecom: [{ value: '555' }] }, '.telecom[0]'],
    ['Patient', { photo: [{ data: 'YQ==' }] }, '.photo[0]'],
    ['Patient', div('<div> </div>'), '.text.div'],
    ['Patient', div('<div><script>x</script></div>'), '.text.div'],
    ['Patient', div('<div><a onclick="x">x</a></div>'), '.text.div'],
    ['Patient', div('<div xmlns="http://example.org">x</div>'), '.text.div'],
    [
      'Condition',
      {
        clinicalStatus: {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
        },
      },
      '',
    ],
    ['Condition', { evidence: [{ id: 'x', ...shadow }] }, '.evidence[0]'],
    ['Organization', { name: undefined }, ''],
    ['Organization', { telecom: [{ system: 'phone', use: 'home' }] }, '.telecom[0]'],
    ['Organization', { address: [{ text: 'x', use: 'home' }] }, '.address[0]'],
    ['AllergyIntolerance', { clinicalStatus: undefined }, ''],
    [
      'CarePlan',
      { activity: [{ reference: { display: 'x' }, detail: { status: 'completed' } }] },
      '.activity[0]',
    ],
    [
      'CareTeam',
      { participant: [{ member: { reference: 'Patient/1' }, onBehalfOf: { display: 'x' } }] },
      '.participant[0]',
    ],
    ['Goal', { target: [{ detailString: 'x' }] }, '.target[0]'],
    ['Immunization', { education: [{ presentationDate: '2020' }] }, '.education[0]'],
    [
      'MedicationStatement',
      dose({ doseQuantity: { value: 1, comparator: '<' } }),
      '.dosage[0].doseAndRate[0].dose.ofType(Quantity)',
    ],
    [
      'MedicationRequest',
      { dispenseRequest: { expectedSupplyDuration: { value: 1, code: 'd', system: 'http://x.org' } } },
      '.dispenseRequest.expectedSupplyDuration',
    ],
    ['Condition', { onsetAge: { value: -1, code: 'a', ...ucum } }, '.onset.ofType(Age)'],
    ['CodeSystem', { concept: [{ code: 'a' }, { code: 'b', concept: [{ code: 'a' }] }] }, ''],
    [
      'ValueSet',
      { compose: { include: [{ concept: [{ code: 'x' }], valueSet: ['http://x.org/v'] }] } },
      '.compose.include[0]',
    ],
  ],
};

/** Returns a type's example with some members replaced. */
function faulty(type: ResourceType, members: Members): JsonObject {
  const laid = Object.entries({ ...structuredClone(EXAMPLES[type]), ...members });
  return Object.fromEntries(laid.filter((member): member is [string, Json] => member[1] !== undefined));
}

describe('validation of faulty resources', () => {
  for (const [code, rows] of Object.entries(FAULTS)) {
    describe(code, () => {
      for (const [type, members, path] of rows) {
        const said = JSON.stringify(members, (_, part) => (part === undefined ? null : part)).slice(0, 90);
        it(`${type} ${said}`, () => {
          const issues = validateResource(faulty(type, members), type);
          expect(issues.map((issue) => [issue.code, issue.expression])).to.deep.equal([[code, type + path]]);
          expect(issues[0]?.diagnostics).to.have.length.greaterThan(10);
        });
      }
    });
  }

  it('names every fault, not only the first', () => {
    const patient = {
      ...EXAMPLES.Patient,
      gender: 'x',
      birthDate: 'y',
      active: 'z',
      foo: 1,
      name: [{ use: 'w' }],
    };
    const codes = validateResource(patient, 'Patient').map((issue) => `${issue.code} ${issue.expression}`);
    expect(codes).to.have.members([
      'code-invalid Patient.gender',
      'value Patient.birthDate',
      'value Patient.active',
      'structure Patient.foo',
      'code-invalid Patient.name[0].use',
    ]);
  });

  it('faults another type than the expected, and none', () => {
    expect(validateResource(EXAMPLES.Patient, 'Observation')).to.have.length(1);
    expect(validateResource({ id: 'x' }, 'Patient').map(({ code }) => code)).to.deep.equal(['required']);
    expect(validateResource({ resourceType: 'DomainResource' }).map(({ code }) => code)).to.deep.equal([
      'value',
    ]);
  });

  it('reads numbers by their literal', () => {
    const faults = (literal: string): number => {
      const { value: patient } = parseJson(`{"resourceType":"Patient","multipleBirthInteger":${literal}}`);
      return validateResource(patient as JsonObject, 'Patient').length;
    };
    expect(['1', '-1', '0', '2147483647', '-2147483648'].map(faults)).to.deep.equal([0, 0, 0, 0, 0]);
    expect(['1.0', '1e2', '2147483648', '123456789012345678901'].map(faults)).to.deep.equal([1, 1, 1, 1]);
  });

  it('takes time in proportion to the size, whatever the text', function () {
    this.timeout(30_000);
    const spaces = ' '.repeat(2_000_000);
    const codings = Array.from({ length: 20_000 }, (_, at) => ({ system: 'http://x.org', code: `c${at}` }));
    const resources: JsonObject[] = [
      { resourceType: 'Binary', contentType: 'text/plain', data: `YQ==${spaces}*` },
      { resourceType: 'Patient', text: { status: 'empty', div: `<div ${spaces}<` } },
      { resourceType: 'Patient', text: { status: 'empty', div: `<div><!--${'- '.repeat(1_000_000)}` } },
      { resourceType: 'Patient', photo: [{ contentType: `a/b${spaces}` }] },
      { resourceType: 'Patient', name: [{ family: `${spaces}\u0000` }] },
      {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: codings },
        valueString: 'x',
        component: [{ code: { coding: [...codings].reverse() } }],
      },
    ];
    for (const resource of resources) expect(validateResource(resource)).to.have.length(1);
  });

  it('lists a hundred faults and counts the others', () => {
    const name = Array.from({ length: 5000 }, () => ({ foo: 1 }));
    const issues = validateResource({ resourceType: 'Patient', name }, 'Patient');
    expect(issues).to.have.length(101);
    expect(issues.at(-1)?.unlisted).to.equal(4900);
  });
});
