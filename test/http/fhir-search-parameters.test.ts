import { expect } from 'chai';
import { compiledParameters } from '#src/fhir/search/paths.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

/** Observations by a letter; all are the first patient's but `z`. */
const OBSERVATIONS: Readonly<Record<string, Record<string, unknown>>> = {
  a: {
    code: {
      coding: [
        { system: 'http://loinc.org', code: '8480-6' },
        { system: 'urn:own', code: 'SYS' },
      ],
    },
    category: [{ coding: [{ system: 'urn:cat', code: 'vital-signs' }] }, { coding: [{ code: 'home' }] }],
    effectiveDateTime: '2024-03-01T10:30:00+02:00',
    valueQuantity: { value: 120, unit: 'mmHg', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
    device: { reference: 'https://elsewhere.example/fhir/Device/7' },
    note: [{ text: 'x' }],
  },
  b: {
    code: { coding: [{ system: 'http://loinc.org', code: '8462-4' }] },
    category: [{ coding: [{ system: 'urn:cat', code: 'vital-signs' }] }],
    effectivePeriod: { start: '2024-03-01', end: '2024-03-05' },
    valueQuantity: { value: 80.5, comparator: '<', unit: 'mmHg', system: 'urn:units', code: 'mm[Hg]' },
    performer: [{ identifier: { system: 'urn:staff', value: 'S1' } }],
  },
  c: {
    code: { text: 'free' },
    effectivePeriod: { start: '2024-04-01' },
    valueString: 'Crème brûlée, twice | done',
    meta: {
      profile: ['http://example.org/fhir/StructureDefinition/one'],
      tag: [{ system: 'urn:t', code: 'x' }],
    },
  },
  d: {
    code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
    status: 'amended',
    effectiveDateTime: '2023',
    valueCodeableConcept: { coding: [{ system: 'urn:v', code: 'pos' }], text: 'Positive' },
    component: [{ code: { coding: [{ system: 'urn:own', code: 'part' }] }, valueQuantity: { value: -3 } }],
    meta: { profile: ['http://example.org/fhir/StructureDefinition/one/two'] },
  },
  z: { code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] }, effectiveDateTime: '2024-03-01' },
};

/** Patients by a letter. */
const PATIENTS: Readonly<Record<string, Record<string, unknown>>> = {
  p: {
    active: true,
    gender: 'female',
    birthDate: '1980-02-29',
    name: [{ family: 'Åkesson', given: ['Eva', 'Maria'] }, { text: 'Evy the Great' }],
    telecom: [
      { system: 'phone', value: '555-0100' },
      { system: 'email', value: 'Eva@Example.org' },
    ],
    address: [{ line: ['Main Street 1'], city: 'Oslo', use: 'home' }],
    identifier: [
      {
        type: { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v2-0203', code: 'MR' }] },
        system: 'urn:mrn',
        value: '42',
      },
    ],
  },
  q: { gender: 'male', birthDate: '1980', name: [{ family: 'Nilsen' }], deceasedDateTime: '2020-01-01' },
  r: {
    active: false,
    deceasedBoolean: false,
    name: [{ family: 'Eve' }],
    identifier: [{ system: 'urn:mrn', value: '43' }],
  },
};

/** Query → letters that it finds. */
const OF_OBSERVATIONS: readonly (readonly [query: string, letters: string])[] = [
  ['code=8480-6', 'adz'],
  ['code=http://loinc.org|8480-6', 'adz'],
  ['code=|8480-6', ''],
  ['code=urn:own|', 'a'],
  ['code=sys', 'a'],
  ['code=8480-6,8462-4', 'abdz'],
  ['code=8480-6&code=SYS', 'a'],
  ['code=8480-6&status=amended', 'd'],
  ['status=http://hl7.org/fhir/observation-status|amended', 'd'],
  ['code:not=8480-6', 'bc'],
  // Not any of the values, also where another one is there: https://hl7.org/fhir/R4/search.html#token
  ['category:not=vital-signs', 'cdz'],
  ['category:not=home', 'bcdz'],
  ['category:not=vital-signs,home', 'cdz'],
  ['category=|home', 'a'],
  ['category:missing=true', 'cdz'],
  ['category:missing=false', 'ab'],
  ['value-quantity:missing=true', 'cdz'],
  ['date:missing=false', 'abcdz'],
  ['device=https://elsewhere.example/fhir/Device/7', 'a'],
  ['device=Device/7', ''],
  ['device=7', ''],
  ['performer:identifier=urn:staff|S1', 'b'],
  ['performer:identifier=S2', ''],
  ['performer:missing=false', 'b'],
  ['date=2024', 'abz'],
  ['date=2024-03-01', 'az'],
  ['date=2024-03', 'abz'],
  ['date=2024-03-01T08:30:00Z', 'a'],
  ['date=2024-03-01T10:30:00%2B02:00', 'a'],
  ['date=2024-03-01T10:30:00Z', ''],
  ['date=ne2024-03', 'cd'],
  ['date=gt2024-03-01', 'bc'],
  ['date=ge2024-03-01', 'abcz'],
  ['date=lt2024-03-01', 'd'],
  // Neither is all of b within the day, nor does it begin before.
  ['date=le2024-03-01', 'adz'],
  ['date=sa2024-03-01', 'c'],
  ['date=sa2024-02', 'abcz'],
  ['date=eb2024', 'd'],
  ['date=ap2023', 'abcdz'],
  ['date=ge2024-03-01&date=le2024-03-31', 'abz'],
  ['date=2023,2024-03-01', 'adz'],
  ['value-quantity=120', 'a'],
  ['value-quantity=120.0', 'a'],
  ['value-quantity=119.6', ''],
  ['value-quantity=1e2', ''],
  ['value-quantity=1.2e2', 'a'],
  ['value-quantity=120|http://unitsofmeasure.org|mm[Hg]', 'a'],
  ['value-quantity=120||mmHg', 'a'],
  ['value-quantity=120|urn:units|mm[Hg]', ''],
  ['value-quantity=gt100', 'a'],
  ['value-quantity=lt80', 'b'],
  ['value-quantity=le120', 'ab'],
  ['value-quantity=ge80.5', 'ab'],
  ['value-quantity=sa80.5', 'a'],
  ['value-quantity=eb100', 'b'],
  ['value-quantity=ap110', 'a'],
  ['value-quantity=ne120', 'b'],
  ['combo-value-quantity=-3', 'd'],
  ['component-value-quantity=lt0', 'd'],
  ['component-code=urn:own|part', 'd'],
  ['combo-code=part,SYS', 'ad'],
  ['value-string=creme', 'c'],
  ['value-string=positive', 'd'],
  ['value-string=BRULEE', ''],
  ['value-string:contains=BRULEE', 'c'],
  ['value-string:exact=Crème brûlée\\, twice | done', 'c'],
  ['value-string:exact=crème brûlée\\, twice | done', ''],
  ['value-concept=urn:v|pos', 'd'],
  ['_tag=urn:t|x', 'c'],
  ['_profile=http://example.org/fhir/StructureDefinition/one', 'c'],
  ['_profile:below=http://example.org/fhir/StructureDefinition/one', 'cd'],
  ['_profile:below=http://example.org/fhir', 'cd'],
  ['_profile:below=http://example.org/fhir/StructureDefinition/on', ''],
  ['_profile:above=http://example.org/fhir/StructureDefinition/one/two/three', 'cd'],
  ['patient=Patient/PATIENT&code=8480-6', 'ad'],
  ['subject=Patient/PATIENT&code=8480-6&date=2024', 'a'],
  ['subject:missing=true', ''],
];

const OF_PATIENTS: readonly (readonly [query: string, letters: string])[] = [
  ['family=ake', 'p'],
  ['family=AKESSON', 'p'],
  ['family=kesson', ''],
  ['name=ev', 'pr'],
  ['name=maria', 'p'],
  ['name=ev&name=nilsen', ''],
  ['name=nil,maria', 'pq'],
  ['given:exact=Eva', 'p'],
  ['given:exact=eva', ''],
  ['given:contains=AR', 'p'],
  ['name:missing=true', ''],
  ['gender=female', 'p'],
  ['gender:not=female', 'qr'],
  ['gender=http://hl7.org/fhir/administrative-gender|male', 'q'],
  ['gender:missing=true', 'r'],
  ['active=true', 'p'],
  ['active=false', 'r'],
  ['deceased=true', 'q'],
  ['deceased=false', 'pr'],
  ['death-date=ge2020', 'q'],
  ['birthdate=1980', 'pq'],
  ['birthdate=1980-02-29', 'p'],
  ['birthdate=lt1980-02-29', 'q'],
  ['email=eva@example.org', 'p'],
  ['phone=555-0100', 'p'],
  ['phone=eva@example.org', ''],
  ['telecom=555-0100', 'p'],
  ['address=main', 'p'],
  ['address-city=oslo', 'p'],
  ['address-use=home', 'p'],
  ['identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|MR|42', 'p'],
  ['identifier:of-type=http://terminology.hl7.org/CodeSystem/v2-0203|SS|42', ''],
  ['identifier:not=urn:mrn|42', 'qr'],
  ['identifier:missing=true', 'q'],
  ['identifier=urn:mrn|43&active=false', 'r'],
];

const REFUSED: readonly (readonly [path: string, named: string])[] = [
  ['/Observation?date=yesterday', 'date'],
  ['/Observation?date:exact=2024', 'date:exact'],
  ['/Observation?code:below=1', 'code:below'],
  ['/Observation?code=a|b|c', 'code'],
  ['/Observation?code=|', 'code'],
  ['/Observation?category:missing=perhaps', 'category:missing'],
  ['/Observation?value-quantity=much', 'value-quantity'],
  ['/Observation?value-quantity=1|2|3|4', 'value-quantity'],
  ['/Observation?performer:Patientt=1', 'performer:Patientt'],
  ['/Observation?performer=Nobody/1', 'performer'],
  ['/Observation?encounter=a b', 'encounter'],
  ['/Patient?name:below=x', 'name:below'],
  ['/Patient?gender:of-type=a|b|c', 'gender:of-type'],
  ['/Patient?identifier:of-type=42', 'identifier:of-type'],
  ['/Patient?name=%CC%81', 'name'],
];

/** https://hl7.org/fhir/R4/search.html: what each type of parameter, prefix and modifier finds */
describe('FHIR search parameters', () => {
  let service: InProcess;
  const letters = new Map<string, string>();
  let patient = '';
  const create = async (letter: string, resource: Record<string, unknown>): Promise<string> => {
    const answer = await service.post(`/${resource.resourceType}`, resource);
    expect(answer.status, answer.text).to.equal(201);
    const id = String(answer.json.id);
    letters.set(id, letter);
    return id;
  };
  before(async () => {
    service = await startInProcess();
    const ids: string[] = [];
    for (const [letter, body] of Object.entries(PATIENTS)) {
      ids.push(await create(letter, { resourceType: 'Patient', ...body }));
    }
    patient = ids[0] ?? '';
    for (const [letter, body] of Object.entries(OBSERVATIONS)) {
      const subject = { reference: `Patient/${letter === 'z' ? ids[1] : patient}` };
      await create(letter, { resourceType: 'Observation', status: 'final', subject, ...body });
    }
  });
  after(() => service.stop());

  const found = async (path: string, key?: string): Promise<string> => {
    const answer = await service.fhir(path, key === undefined ? {} : { key });
    expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
    const bundle = JSON.parse(answer.text) as {
      readonly total: number;
      readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    };
    const names = (bundle.entry ?? []).map(({ resource }) => letters.get(resource.id) ?? '?').sort();
    expect(bundle.total, path).to.equal(names.length);
    return names.join('');
  };
  const asked = (query: string): string =>
    encodeURI(query.replace('PATIENT', patient)).replaceAll('%252B', '%2B');

  for (const [type, cases] of [
    ['Observation', OF_OBSERVATIONS],
    ['Patient', OF_PATIENTS],
  ] as const) {
    for (const [query, expected] of cases) {
      it(`${type}?${query}`, async () => {
        expect(await found(`/${type}?${asked(query)}`)).to.equal(expected);
      });
    }
  }

  it('finds nothing of another project', async () => {
    const key = await service.newProject();
    for (const [query] of [...OF_OBSERVATIONS]) {
      expect(await found(`/Observation?${asked(query)}`, key), query).to.equal('');
    }
    for (const [query] of OF_PATIENTS)
      expect(await found(`/Patient?${asked(query)}`, key), query).to.equal('');
  });

  it('names what it refuses', async () => {
    for (const [path, named] of REFUSED) {
      const answer = await service.fhir(path);
      expect(answer.status, `${path}: ${answer.text}`).to.equal(400);
      expect(answer.text, path).to.contain(`query.${named}`);
    }
  });

  it('takes every parameter that a type has, with and without a value', async () => {
    const values = { token: 'x', reference: 'x', date: '2024', string: 'x', uri: 'urn:x', quantity: '1' };
    for (const type of TYPE_NAMES) {
      if (type === 'Provenance') continue;
      for (const { code, type: kind } of compiledParameters(type)) {
        const answer = await service.fhir(
          `/${type}?${code}=${values[kind]}&${code}:missing=true&_total=none`,
          {
            headers: { Prefer: 'handling=strict' },
          },
        );
        expect(answer.status, `${type}?${code} (${typeEntry(type).home}): ${answer.text}`).to.equal(200);
      }
    }
  });

  it('follows changes, deletions and restorations', async () => {
    const body = { resourceType: 'Patient', name: [{ family: 'Changing' }], gender: 'other' };
    const id = await create('n', body);
    expect(await found('/Patient?family=changing&gender=other')).to.equal('n');
    const put = (resource: object) =>
      service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify({ id, ...resource }) });
    await put({ ...body, name: [{ family: 'Changed' }] });
    expect(await found('/Patient?family=changing')).to.equal('');
    expect(await found('/Patient?family=changed&gender=other')).to.equal('n');
    await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    expect(await found('/Patient?gender=other')).to.equal('');
    expect(await found('/Patient?gender:missing=true')).to.equal('r');
    await put(body);
    expect(await found('/Patient?family=changing')).to.equal('n');
  });

  it('decides conditional requests by every parameter', async () => {
    const body = { resourceType: 'Patient', gender: 'unknown', name: [{ family: 'Once' }] };
    const post = () =>
      service.fhir('/Patient', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'If-None-Exist': 'family=once&gender=unknown' },
      });
    const first = await post();
    expect(first.status, first.text).to.equal(201);
    expect((await post()).status).to.equal(200);
  });
});
