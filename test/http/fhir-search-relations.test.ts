import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

type Body = Readonly<Record<string, unknown>>;

/** Resources by letter. `@x` in a text is replaced by the id of resource x, which is created first. */
const RESOURCES: Readonly<Record<string, Body>> = {
  O: { resourceType: 'Organization', name: 'North', identifier: [{ system: 'urn:org', value: 'N' }] },
  N: { resourceType: 'Organization', name: 'Ward of North', partOf: { reference: 'Organization/@O' } },
  M: { resourceType: 'Organization', name: 'South' },
  d: { resourceType: 'Practitioner', name: [{ family: 'Doc' }], identifier: [{ value: 'D1' }] },
  p: {
    resourceType: 'Patient',
    name: [{ family: 'Åkesson' }],
    gender: 'female',
    managingOrganization: { reference: 'Organization/@N' },
    generalPractitioner: [{ reference: 'Practitioner/@d', display: 'Doctor Doc' }],
  },
  q: {
    resourceType: 'Patient',
    name: [{ family: 'Berg' }],
    gender: 'male',
    managingOrganization: { reference: 'Organization/@M' },
  },
  r: { resourceType: 'Patient', name: [{ family: 'Celan' }] },
  e: {
    resourceType: 'Encounter',
    status: 'finished',
    class: { system: 'urn:class', code: 'AMB', display: 'Ambulatory' },
    subject: { reference: 'Patient/@p' },
    serviceProvider: { reference: 'Organization/@N' },
  },
  f: {
    resourceType: 'Encounter',
    status: 'planned',
    class: { system: 'urn:class', code: 'IMP' },
    subject: { reference: 'Patient/@q' },
    partOf: { reference: 'Encounter/@E' },
  },
  a: {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'urn:c', code: 'A', display: 'Blood glucose' }], text: 'Sugar' },
    subject: { reference: 'Patient/@p' },
    encounter: { reference: 'Encounter/@e' },
    performer: [{ reference: 'Practitioner/@d' }],
  },
  b: {
    resourceType: 'Observation',
    status: 'amended',
    code: { coding: [{ system: 'urn:c', code: 'B' }] },
    subject: { reference: 'Patient/@q' },
    encounter: { reference: 'Encounter/@f' },
  },
  c: {
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'urn:c', code: 'A' }] },
    subject: { reference: 'Patient/@q' },
    performer: [{ reference: 'Organization/@M' }],
  },
};

const GENDERS = 'male,female,other,unknown,a,b,c,d,e';

const CASES: readonly (readonly [query: string, letters: string])[] = [
  ['Observation?subject:Patient.name=akesson', 'a'],
  ['Observation?patient.name=berg', 'bc'],
  ['Observation?subject.name=berg', 'bc'],
  ['Observation?subject:Patient.name=nobody', ''],
  ['Observation?subject:Device.device-name=x', ''],
  // There are so many gender values that they are looked up one by one.
  [`Patient?gender=${GENDERS}`, 'pq'],
  [`Patient?general-practitioner:Practitioner.name=doc&gender=${GENDERS}`, 'p'],
  [`Patient?general-practitioner:Practitioner.name=nobody&gender=${GENDERS}`, ''],
  ['Observation?patient.name:exact=Berg', 'bc'],
  ['Observation?patient.name:exact=berg', ''],
  ['Observation?patient.gender:not=male', 'a'],
  ['Observation?patient.gender:missing=false&status=final', 'ac'],
  ['Observation?patient._id=@q', 'bc'],
  ['Observation?patient.organization.name=south', 'bc'],
  ['Observation?patient.organization.partof.name=north', 'a'],
  ['Observation?patient.organization.partof.identifier=urn:org|n', 'a'],
  ['Observation?patient:Patient.organization:Organization.partof:Organization.name=north', 'a'],
  ['Observation?performer:Practitioner.name=doc', 'a'],
  ['Observation?performer.identifier=D1', 'a'],
  ['Observation?performer:Organization.name=south', 'c'],
  ['Observation?performer:Organization.name=doc', ''],
  ['Observation?encounter.status=finished,planned', 'ab'],
  ['Observation?encounter.status=planned&code=B', 'b'],
  ['Observation?encounter.patient.name=berg', 'b'],
  ['Encounter?service-provider:Organization.partof.name=north', 'e'],
  ['Patient?_has:Observation:patient:code=A', 'pq'],
  ['Patient?_has:Observation:patient:code=urn:c|B', 'q'],
  ['Patient?_has:Observation:subject:status=final&_has:Observation:subject:status=amended', 'q'],
  ['Patient?_has:Observation:patient:status:not=final', 'q'],
  ['Patient?_has:Observation:patient:performer.name=doc', 'p'],
  ['Patient?_has:Observation:patient:encounter.status=planned', 'q'],
  ['Patient?_has:Encounter:patient:_has:Observation:encounter:code=A', 'p'],
  ['Patient?_has:Observation:patient:_id=@c', 'q'],
  ['Practitioner?_has:Patient:general-practitioner:name=ake', 'd'],
  ['Practitioner?_has:Observation:performer:code=A', 'd'],
  ['Organization?_has:Observation:performer:code=A', 'M'],
  ['Organization?_has:Organization:partof:name=ward', 'O'],
  ['Organization?_has:Patient:organization:_has:Observation:patient:code=B', 'M'],
  ['Encounter?_has:Observation:encounter:code=A,B', 'ef'],
  ['Location?_has:Observation:subject:status=final', ''],
  ['Observation?patient._has:Encounter:patient:status=planned', 'bc'],
  ['Patient?organization:below=Organization/@O', 'p'],
  ['Patient?organization:below=@O', 'p'],
  ['Patient?organization:below=@N', 'p'],
  ['Patient?organization:below=@M', 'q'],
  ['Patient?organization:above=@N', 'p'],
  ['Patient?organization:above=@O', ''],
  ['Organization?partof:above=@N', 'N'],
  ['Observation?code:text=blood', 'a'],
  ['Observation?code:text=SUGAR', 'a'],
  ['Observation?code:text=glucose', ''],
  ['Patient?general-practitioner:text=doctor', 'p'],
  ['Encounter?class:text=ambu', 'e'],
  ['Observation?status:in=http://hl7.org/fhir/ValueSet/observation-status', 'abc'],
  ['Patient?gender:in=http://hl7.org/fhir/ValueSet/administrative-gender', 'pq'],
  ['Patient?gender:not-in=http://hl7.org/fhir/ValueSet/administrative-gender', 'r'],
  ['Encounter?status:in=http://hl7.org/fhir/ValueSet/administrative-gender', ''],
  ['Observation?patient.gender:in=http://hl7.org/fhir/ValueSet/administrative-gender&code=B', 'b'],
];

const REFUSED: readonly (readonly [path: string, says: string])[] = [
  ['Observation?code.name=x', 'code is not a reference'],
  ['Observation?subject:Organization.name=x', 'subject cannot refer to an Organization'],
  ['Observation?subject:Patient.birthdate=soon', 'birthdate'],
  ['Patient?_has:Observation:patient=A', '_has:Type:reference:parameter'],
  ['Patient?_has:Observation:code:status=final', 'Observation.code cannot refer to a Patient'],
  ['Patient?_has:Provenance:target:agent=x', 'Provenance'],
  ['Observation?code:in=http://example.org/ValueSet/mine', 'http://example.org/ValueSet/mine'],
  ['Observation?code:not-in=http://example.org/ValueSet/mine', 'http://example.org/ValueSet/mine'],
  ['Observation?code:below=urn:c|A', 'urn:c|A'],
  ['Observation?code:above=A', 'code:above'],
  ['Observation?device:below=1', 'device:below'],
  ['Location?near=north', 'near'],
  ['Location?near=91|0', 'the latitude must be'],
  ['Location?near=1|1|1|kg', 'length'],
  [`Observation?${'patient.link.'.repeat(8)}name=x`, 'steps'],
];

const UNKNOWN: readonly string[] = [
  'Observation?patient.shoe=1',
  'Observation?shoe.name=1',
  'Patient?_has:AuditEvent:patient:agent=1',
  'Patient?_has:Observation:shoe:code=1',
  'Patient?_has:Observation:patient:shoe=1',
];

/** https://hl7.org/fhir/R4/search.html#chaining and #has, #modifiers */
describe('FHIR searches across references', () => {
  let service: InProcess;
  const ids = new Map<string, string>();
  const letters = new Map<string, string>();
  const filledIn = (text: string): string => text.replaceAll(/@(\w)/g, (_, letter) => ids.get(letter) ?? '');

  before(async () => {
    service = await startInProcess();
    const create = async (letter: string, body: Body): Promise<void> => {
      const answer = await service.post(`/${body.resourceType}`, JSON.parse(filledIn(JSON.stringify(body))));
      ids.set(letter, String(answer.json.id));
      letters.set(String(answer.json.id), letter);
    };
    for (const [letter, body] of Object.entries(RESOURCES)) {
      if (letter === 'f') {
        // The Encounter that f is part of, in the record of f.
        await create('E', { ...RESOURCES.e, subject: { reference: 'Patient/@q' }, status: 'unknown' });
      }
      await create(letter, body);
    }
    letters.delete(ids.get('E') ?? '');
  });
  after(() => service.stop());

  const found = async (query: string, key?: string): Promise<string> => {
    const answer = await service.fhir(`/${encodeURI(filledIn(query))}`, {
      ...(key === undefined ? {} : { key }),
      headers: { Prefer: 'handling=strict' },
    });
    expect(answer.status, `${query}: ${answer.text}`).to.equal(200);
    const { entry = [] } = JSON.parse(answer.text) as {
      readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    };
    return entry
      .map(({ resource }) => letters.get(resource.id) ?? '')
      .sort()
      .join('');
  };

  for (const [query, expected] of CASES) {
    it(query, async () => {
      expect(await found(query)).to.equal(expected);
    });
  }

  it('finds an Encounter by what it is part of', async () => {
    expect(await found('Observation?encounter:below=@E')).to.equal('b');
    expect(await found('Observation?encounter.part-of._id=@E')).to.equal('b');
    expect(await found('Encounter?_has:Encounter:part-of:_has:Observation:encounter:code=B')).to.equal('');
  });

  it('finds nothing of another project, and through nothing of another project', async () => {
    const key = await service.newProject();
    for (const [query] of CASES) expect(await found(query, key), query).to.equal('');
    const body = { resourceType: 'Patient', name: [{ family: 'Other' }] };
    const patient = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(body), key });
    letters.set(String(patient.json.id), 'x');
    expect(await found('Patient?_has:Observation:patient:code=A', key)).to.equal('');
    expect(await found('Patient?name=other', key)).to.equal('x');
    expect(await found('Observation?patient.name=other')).to.equal('');
  });

  it('stays within a compartment', async () => {
    expect(await found('Patient/@p/Observation?patient.organization.partof.name=north')).to.equal('a');
    expect(await found('Patient/@q/Observation?performer:Practitioner.name=doc')).to.equal('');
    expect(await found('Patient/@p/Encounter?_has:Observation:encounter:code=A,B')).to.equal('e');
  });

  // The record of q also contains Encounters and its Patient.
  it('counts and pages one type of a record', async () => {
    for (const query of [
      'Observation?patient=@q&patient.name=berg',
      'Patient/@q/Observation?patient.name=berg',
    ]) {
      const { json } = await service.fhir(`/${filledIn(query)}&_count=2`);
      expect(json.total, query).to.equal(2);
      expect(json.entry, query).to.have.lengthOf(2);
      expect(json.link, query).to.have.lengthOf(1);
    }
  });

  it('forgets what is deleted, at either end', async () => {
    const body = { resourceType: 'Patient', name: [{ family: 'Shortlived' }] };
    const patient = String((await service.post('/Patient', body)).json.id);
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'gone', coding: [{ system: 'urn:c', code: 'G' }] },
      subject: { reference: `Patient/${patient}` },
    };
    const id = String((await service.post('/Observation', observation)).json.id);
    letters.set(patient, 's').set(id, 'g');
    expect(await found('Observation?patient.name=shortlived')).to.equal('g');
    expect(await found('Patient?_has:Observation:patient:code=G')).to.equal('s');
    await service.fhir(`/Observation/${id}`, { method: 'DELETE' });
    expect(await found('Observation?patient.name=shortlived')).to.equal('');
    expect(await found('Patient?_has:Observation:patient:code=G')).to.equal('');
    expect(await found('Patient?_has:Observation:patient:code:missing=false&name=shortlived')).to.equal('');
  });

  it('names what it refuses', async () => {
    for (const [query, says] of REFUSED) {
      const answer = await service.fhir(`/${encodeURI(query)}`);
      expect(answer.status, `${query}: ${answer.text}`).to.equal(400);
      expect(answer.text, query).to.contain(says);
    }
  });

  it('says which parameters are unknown', async () => {
    for (const query of UNKNOWN) {
      const strict = await service.fhir(`/${query}`, { headers: { Prefer: 'handling=strict' } });
      expect(strict.status, query).to.equal(400);
      const lenient = await service.fhir(`/${query}`);
      expect(lenient.status, query).to.equal(200);
      expect(lenient.text).to.contain(query.slice(query.indexOf('?') + 1, -2));
    }
  });
});
