/** What somebody is told who does not know the service yet, and what was once answered wrongly at its edges. */
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
    expect(answer.text).to.contain('one ETag');
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
