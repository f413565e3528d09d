import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Response {
  readonly resourceType: string;
  readonly type: string;
  readonly entry: readonly {
    readonly fullUrl?: string;
    readonly resource?: { readonly resourceType: string; readonly id: string; readonly total?: number };
    readonly response: {
      readonly status: string;
      readonly location?: string;
      readonly etag?: string;
      readonly lastModified?: string;
      readonly outcome?: {
        readonly issue: readonly { readonly code: string; readonly diagnostics: string }[];
      };
    };
  }[];
}

/** https://hl7.org/fhir/R4/http.html#transaction: the response. The tests of commands cover what is written. */
describe('FHIR Bundles', () => {
  let service: InProcess;
  let id: string;
  before(async () => {
    service = await startInProcess();
    id = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  const URN = 'urn:uuid:00000000-0000-4000-8000-000000000001';
  const bundle = (type: 'transaction' | 'batch', ...entry: object[]) => ({
    resourceType: 'Bundle',
    type,
    entry,
  });
  const request = (method: string, url: string, more: object = {}) => ({ request: { method, url, ...more } });
  const observation = (patient: string) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: patient },
  });
  const send = async (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    JSON.parse((await service.post('/', body, headers)).text) as Response;
  const statuses = ({ entry }: Response) => entry.map(({ response }) => Number(response.status.slice(0, 3)));

  it('answers a transaction in the order it came, reads after writes', async () => {
    const answer = await send(
      bundle(
        'transaction',
        request('GET', `Patient/${id}`),
        { ...request('POST', 'Patient'), fullUrl: URN, resource: { resourceType: 'Patient' } },
        { ...request('POST', 'Observation'), resource: observation(URN) },
        request('GET', `${service.base}/Patient/${id}/_history?_count=1`),
        request('HEAD', `Patient/${id}`),
        request('GET', `Patient/${id}`, { ifNoneMatch: 'W/"1"' }),
      ),
    );
    expect(answer).to.include({ resourceType: 'Bundle', type: 'transaction-response' });
    expect(statuses(answer)).to.deep.equal([200, 201, 201, 200, 200, 304]);
    const [read, patient, made, history, head] = answer.entry;
    expect(read?.resource?.id).to.equal(id);
    expect(read?.response.etag).to.equal('W/"1"');
    const version = await service.fhir(`/Patient/${id}`);
    expect(version.text).to.contain(`"lastUpdated":"${read?.response.lastModified}"`);
    expect(patient).not.to.have.property('resource');
    expect(patient?.response.location).to.match(/^Patient\/[0-9a-f-]{36}\/_history\/1$/);
    expect(patient?.response.etag).to.equal('W/"1"');
    const [stored] = patient?.response.location?.split('/_history') ?? [];
    const shown = await service.fhir(`/${made?.response.location}`);
    expect(shown.json).to.nested.include({ 'subject.reference': stored });
    expect(history?.resource).to.include({ resourceType: 'Bundle', total: 1 });
    expect(head).not.to.have.property('resource');
  });

  it('refuses a transaction whose reads would fail, and writes nothing', async () => {
    const before = (await service.fhir('/Patient?_summary=count')).json.total;
    const body = bundle(
      'transaction',
      { ...request('POST', 'Patient'), resource: { resourceType: 'Patient' } },
      request('GET', 'Patient/nobody'),
      request('GET', 'Spaceship'),
    );
    const answer = await service.fhir('/', { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).to.equal(404);
    expect(answer.json).to.nested.include({
      'issue[0].expression[0]': 'Bundle.entry[1]',
      'issue[1].expression[0]': 'Bundle.entry[2]',
    });
    expect((await service.fhir('/Patient?_summary=count')).json.total).to.equal(before);
  });

  it('shows what was written when Prefer asks', async () => {
    const entry = { ...request('POST', 'Patient'), resource: { resourceType: 'Patient', active: true } };
    const [shown] = (await send(bundle('transaction', entry), { Prefer: 'return=representation' })).entry;
    expect(shown?.resource).to.include({ resourceType: 'Patient', active: true });
    expect(shown?.fullUrl).to.equal(`${service.base}/Patient/${shown?.resource?.id}`);
    const [told] = (await send(bundle('transaction', entry), { Prefer: 'return=OperationOutcome' })).entry;
    expect(told?.response.outcome?.issue[0]?.code).to.equal('informational');
    const born = {
      ...request('POST', 'Patient'),
      resource: { resourceType: 'Patient', birthDate: '2962-01-01' },
    };
    for (const type of ['transaction', 'batch'] as const) {
      const [early] = (await send(bundle(type, born), { Prefer: 'return=OperationOutcome' })).entry;
      expect(early?.response.outcome?.issue[1], type).to.include({ severity: 'warning', code: 'value' });
    }
  });

  it('answers each entry of a batch on its own', async () => {
    const other = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    const answer = await send(
      bundle(
        'batch',
        { ...request('POST', 'Observation'), resource: observation(`Patient/${id}`) },
        { ...request('POST', 'Observation'), resource: observation(`Patient/${other}`) },
        { ...request('POST', 'Observation'), resource: { resourceType: 'Observation' } },
        { ...request('POST', 'Claim'), resource: { resourceType: 'Claim' } },
        request('DELETE', `Patient/${other}`, { ifMatch: 'W/"8"' }),
        request('DELETE', 'Patient/nobody'),
        request('GET', `Observation?patient=${id}&_summary=count`),
        request('GET', 'Patient/nobody'),
        request('GET', 'Spaceship'),
      ),
    );
    expect(answer.type).to.equal('batch-response');
    expect(statuses(answer)).to.deep.equal([201, 201, 422, 422, 412, 204, 200, 404, 404]);
    const badId = request('DELETE', 'Patient/a_b!');
    for (const type of ['batch', 'transaction'] as const)
      expect(statuses(await send(bundle(type, badId))), type).to.deep.equal([204]);
    expect(answer.entry[2]?.response.outcome?.issue.length).to.be.greaterThan(1);
    expect(answer.entry[6]?.resource?.total).to.equal(1);
    const codes = answer.entry.slice(7).map(({ response }) => response.outcome?.issue[0]?.code);
    expect(codes).to.deep.equal(['not-found', 'not-supported']);
  });

  it('has searches and operations as entries by GET alone', async () => {
    const posted = [
      request('POST', 'Patient/_search?active=true'),
      request('POST', `Patient/${id}/$everything`),
      request('POST', 'CodeSystem/$lookup'),
    ].map((entry) => ({ ...entry, resource: { resourceType: 'Parameters' } }));
    const read = [request('GET', 'Patient?active=true'), request('GET', `Patient/${id}/$everything`)];
    const wrong = request('GET', `Patient/${id}/$summary?foo=1`);
    const answer = await send(bundle('batch', ...posted, ...read, wrong));
    expect(statuses(answer)).to.deep.equal([422, 422, 422, 200, 200, 400]);
    for (const entry of posted) {
      const body = JSON.stringify(bundle('transaction', entry));
      expect((await service.fhir('/', { method: 'POST', body })).status).to.equal(422);
    }
    expect(statuses(await send(bundle('transaction', ...read)))).to.deep.equal([200, 200]);
  });

  it('answers deletes and what was there already', async () => {
    const identifier = [{ system: 'urn:bundle', value: '1' }];
    const create = {
      ...request('POST', 'Patient', { ifNoneExist: 'identifier=urn:bundle|1' }),
      resource: { resourceType: 'Patient', identifier },
    };
    const [first] = (await send(bundle('transaction', create))).entry;
    const [again] = (await send(bundle('transaction', create))).entry;
    expect(again?.response).to.include({ status: '200 OK', location: first?.response.location });
    const [stored] = first?.response.location?.split('/_history') ?? [];
    const [gone] = (await send(bundle('transaction', request('DELETE', stored ?? '')))).entry;
    expect(gone?.response).to.include({ status: '204 No Content', etag: 'W/"2"' });
    const [none] = (await send(bundle('transaction', request('DELETE', 'Patient?identifier=urn:nobody|1'))))
      .entry;
    expect(none?.response.status).to.equal('204 No Content');
  });

  it('takes an empty Bundle, and one of reads alone', async () => {
    expect(await send({ resourceType: 'Bundle', type: 'transaction' })).not.to.have.property('entry');
    const reads = await send(bundle('batch', ...Array(40).fill(request('GET', `Patient/${id}`))));
    expect(new Set(statuses(reads))).to.deep.equal(new Set([200]));
    expect(reads.entry).to.have.length(40);
  });
});
