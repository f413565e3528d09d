/** Messages for people who don't know the service yet, and edge cases that once got wrong answers. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

describe('at the edges of the interface', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  it('a URL with nothing behind it says where the FHIR interface is', async () => {
    const answer = await service.fhir(`${service.url}/nowhere`, { key: null });
    expect(answer.status).to.equal(404);
    expect(answer.text).to.contain('/fhir/R4/metadata');
  });

  for (const [method, path, says] of [
    ['POST', '/v1/patient', 'did you mean POST /v1/patients?'],
    ['GET', '/v1/Patients', 'did you mean GET /v1/patients?'],
    ['GET', '/patients', 'did you mean GET /v1/patients?'],
    ['GET', '/v1/patients/1/observation', 'did you mean GET /v1/patients/{patient_id}/observations?'],
    [
      'POST',
      '/v1/webhooks/1/test',
      'the paths below /v1/webhooks/{endpoint_id} are rotate, ping, deliveries, replay',
    ],
    ['GET', '/admin/organisations', 'did you mean GET /admin/organizations?'],
  ] as const)
    it(`${method} ${path} names the nearest route`, async () => {
      const answer = await service.fhir(service.url + path, { method, key: null });
      expect(answer.status).to.equal(404);
      expect(answer.text).to.contain(says);
    });
  it('a long path is compared with none', async () => {
    const answer = await service.fhir(`${service.url}/v1/${'patients/'.repeat(500)}`, { key: null });
    expect([answer.status, answer.text.includes('did you mean')]).to.deep.equal([404, false]);
  });

  it('says where patients are searched', async () => {
    const answer = await service.fhir(`${service.url}/v1/patients?name=lind`);
    expect(answer.status).to.equal(422);
    expect(answer.text).to.contain('/fhir/R4/Patient?name=');
  });

  for (const [query, says] of [
    ['/Observation?_sort=dat', 'did you mean `date`?'],
    ['/Observation?_sort=-dat', 'did you mean `date`?'],
    ['/Observation?_include=Observation:patiet', 'did you mean `patient`?'],
    ['/Observation?_include=Observatoin:patient', 'did you mean `Observation`?'],
    ['/Observation?_elements=statu', 'did you mean `status`?'],
    ['/Patient?name:exakt=a', 'did you mean `name:exact`?'],
    ['/Observation?code:exakt=a', 'it supports :not, :text, :in, :not-in, :above, :below, :missing'],
    ['/Observation?date=20260331', '`20260331` is not a FHIR date or instant; write for example 2026-03-31,'],
    ['/Patient/_history?_since=yesterday', '`yesterday` is not a FHIR date or instant'],
  ] as const)
    it(`${query} says what was probably meant`, async () => {
      const answer = await service.fhir(query);
      expect(answer.status, answer.text).to.equal(400);
      expect(answer.text).to.contain(says);
    });
  it('a misspelt operation names the nearest', async () => {
    const answer = await service.fhir(`/Patient/${patient}/$sumary`);
    expect([answer.status, answer.text.includes('did you mean `$summary`?')]).to.deep.equal([404, true]);
  });

  it('unknown elements name the nearest', async () => {
    const answer = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Patient',
        birthdate: '2000-01-01',
        firstName: 'Anna',
        deceased: true,
        name: [{ firstName: 'Anna' }],
      }),
    });
    const said = (answer.json.issue as { diagnostics: string }[]).map(({ diagnostics }) => diagnostics);
    expect(said).to.deep.equal([
      'Patient.birthdate is not an element of Patient; did you mean `birthDate`?',
      'Patient.firstName is not an element of Patient; did you mean `name`?',
      'Patient.deceased is not an element of Patient; write deceasedBoolean, deceasedDateTime',
      'Patient.name[0].firstName is not an element of HumanName; did you mean `given`?',
    ]);
  });

  it('a Bundle without a type is told so', async () => {
    const answer = await service.fhir('', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Bundle' }),
    });
    expect(answer.text).to.contain('Bundle.type is missing; it must be transaction or batch');
  });

  it('GET of the base is a search of everything', async () => {
    const answer = await service.fhir('?_count=1');
    expect(answer.json).to.include({ resourceType: 'Bundle', type: 'searchset', total: 1 });
    const other = await service.fhir('', { method: 'DELETE' });
    expect([other.status, other.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, POST, OPTIONS']);
  });

  it('If-Match takes one ETag, no list', async () => {
    const answer = await service.fhir(`/Patient/${patient}`, {
      method: 'PUT',
      headers: { 'If-Match': 'W/"1", W/"2"' },
      body: JSON.stringify({ resourceType: 'Patient', id: patient }),
    });
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain('a single ETag');
  });

  it('a record holds its Patient', async () => {
    const { json } = await service.fhir(`/Patient/${patient}/Patient`);
    expect([json.total, JSON.stringify(json.entry).includes(patient)]).to.deep.equal([1, true]);
    expect((await service.fhir(`/Patient/${patient}/Organization`)).status).to.equal(404);
  });

  it('the history of an automatic Provenance honours its parameters', async () => {
    const found = await service.fhir(`/Provenance?target=Patient/${patient}`);
    const id = /"resource":\{"resourceType":"Provenance","id":"([^"]+)"/.exec(found.text)?.[1];
    const history = async (query: string) => {
      const { json } = await service.fhir(`/Provenance/${id}/_history${query}`);
      return [json.total, Array.isArray(json.entry) ? json.entry.length : 0];
    };
    expect(await history('')).to.deep.equal([1, 1]);
    expect(await history('?_count=0')).to.deep.equal([1, 0]);
    expect(await history('?_since=2020-01-01')).to.deep.equal([1, 1]);
    expect(await history('?_since=2999-01-01')).to.deep.equal([0, 0]);
    expect(await history('?_at=2020-01-01')).to.deep.equal([0, 0]);
    expect(await history('?_at=2999-01-01')).to.deep.equal([1, 1]);
  });
});
