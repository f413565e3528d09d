/** HL7's label AIAST on resources written by an AI (docs/spec/decisions.md, section 5, "What an AI wrote"). */
import { expect } from 'chai';
import { recordStream } from '#src/events/streams.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { moment } from '#test/support/as-of.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { RecordEvents } from '#test/support/record-events.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue';
const RESTRICTED = { system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' };
const BY_AI = { 'X-Service-Author-Type': 'ai' };
const BY_DEVICE = { 'X-Service-Author-Type': 'device' };

interface Entry {
  readonly resource: JsonObject;
}

describe('what an AI wrote carries the label AIAST', () => {
  let service: InProcess;
  let patient: string;
  let events: RecordEvents;

  const observed = (meta: object = {}, value = '1.50') =>
    JSON.stringify({
      resourceType: 'Observation',
      ...(Object.keys(meta).length === 0 ? {} : { meta }),
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '2160-0' }] },
      subject: { reference: `Patient/${patient}` },
      effectiveDateTime: '2026-03-01T08:30:00Z',
      valueQuantity: { value: '?', unit: 'mg/dL' },
    }).replace('"?"', value);
  const write = async (method: string, path: string, body: string, headers: Record<string, string>) => {
    const answer = await service.fhir(path, { method, body, headers });
    expect(answer.status, answer.text).to.be.oneOf([200, 201]);
    return answer;
  };
  const put = (id: string, meta: object, headers: Record<string, string>, value?: string) =>
    write(
      'PUT',
      `/Observation/${id}`,
      observed(meta, value).replace('"status"', `"id":"${id}","status"`),
      headers,
    );
  const read = async (path: string): Promise<string> => {
    const answer = await service.fhir(path);
    expect(answer.status, answer.text).to.equal(200);
    return answer.text;
  };
  /** Returns the codes of a resource's labels. */
  const labels = (text: string | JsonObject): string[] => {
    const { meta } = typeof text === 'string' ? parseStored(text) : text;
    const { security = [] } = meta as { security?: readonly { code: string }[] };
    return security.map(({ code }) => code);
  };
  const entries = async (path: string): Promise<readonly JsonObject[]> => {
    const { entry = [] } = JSON.parse(await read(path)) as { entry?: readonly Entry[] };
    return entry.map(({ resource }) => resource);
  };
  /** Returns the labels of a version in the log. */
  const logged = async (id: string, version: number): Promise<string[]> => {
    for await (const { data } of events.store.read(recordStream(patient))) {
      const { resource_id, version: number, resource } = parseStored(data);
      if (resource_id === id && number === version) return labels(resource as JsonObject);
    }
    throw new Error(`${id} has no version ${version}`);
  };

  before(async () => {
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    patient = String(
      (await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'P' }] })).json.id,
    );
  });
  after(async () => {
    await events.close();
    await service.stop();
  });

  it('when it is answered, read, searched, listed and exported, with everything else as it was', async () => {
    const created = await write('POST', '/Observation', observed(), BY_AI);
    const id = String(created.json.id);
    expect(labels(created.text)).to.deep.equal(['AIAST']);
    const text = await read(`/Observation/${id}`);
    expect(text).to.equal(created.text).and.to.contain('"value":1.50');
    const before = moment();
    await put(id, {}, BY_DEVICE);
    expect(labels(await read(`/Observation/${id}`))).to.deep.equal([]);
    expect(await read(`/Observation/${id}/_history/1`)).to.equal(text);
    expect(await read(`/Observation/${id}?_asOf=${before}`)).to.equal(text);
    expect((await entries(`/Observation/${id}/_history`)).map(labels)).to.deep.equal([[], ['AIAST']]);
    expect(
      (await entries(`/Observation?patient=${patient}&_asOf=${before}&_security=AIAST`)).map(labels),
    ).to.deep.equal([['AIAST']]);
    expect(await entries(`/Observation?patient=${patient}&_security=AIAST`)).to.deep.equal([]);
    await put(id, {}, BY_AI);
    expect(
      (await entries(`/Observation?_security=${SYSTEM}|AIAST`)).map(({ id: found }) => found),
    ).to.deep.equal([id]);
    expect((await entries(`/Observation?_id=${id}&_elements=status`)).map(labels)).to.deep.equal([['AIAST']]);
    const everything = await entries(`/Patient/${patient}/$everything`);
    expect(everything.map((each) => [each.resourceType, labels(each)])).to.deep.include.members([
      ['Patient', []],
      ['Observation', ['AIAST']],
    ]);
    for (const version of [1, 2, 3]) expect(await logged(id, version)).to.deep.equal([]);
  });

  it('and loses it when a client that has read it writes it back', async () => {
    const created = await write('POST', '/Observation', observed({ security: [RESTRICTED] }), BY_AI);
    const id = String(created.json.id);
    expect(labels(created.text)).to.deep.equal(['R', 'AIAST']);
    const { meta } = JSON.parse(created.text) as { meta: object };
    const updated = await put(id, meta, BY_DEVICE, '2');
    expect(labels(updated.text)).to.deep.equal(['R']);
    expect(await logged(id, 2)).to.deep.equal(['R']);
    // The version that this one replaces wasn't written by an AI, so the label comes from the client itself.
    expect(labels((await put(id, meta, BY_DEVICE, '3')).text)).to.deep.equal(['R', 'AIAST']);
    expect(await logged(id, 3)).to.deep.equal(['R', 'AIAST']);
  });

  it('and keeps the label that a client set itself', async () => {
    const label = { system: SYSTEM, code: 'AIAST' };
    const created = await write('POST', '/Observation', observed({ security: [label] }), BY_AI);
    const id = String(created.json.id);
    expect(labels(created.text)).to.deep.equal(['AIAST']);
    expect(await logged(id, 1)).to.deep.equal(['AIAST']);
    expect(labels((await put(id, { security: [label] }, BY_DEVICE)).text)).to.deep.equal(['AIAST']);
    expect(await logged(id, 2)).to.deep.equal(['AIAST']);
  });

  it('also when a deleted one is restored, and with If-Match', async () => {
    const created = await write('POST', '/Observation', observed(), BY_AI);
    const id = String(created.json.id);
    const { meta } = JSON.parse(created.text) as { meta: object };
    expect((await service.fhir(`/Observation/${id}`, { method: 'DELETE' })).status).to.equal(204);
    expect(labels((await put(id, meta, BY_DEVICE)).text)).to.deep.equal([]);
    const stale = await service.fhir(`/Observation/${id}`, {
      method: 'PUT',
      body: observed(meta).replace('"status"', `"id":"${id}","status"`),
      headers: { ...BY_DEVICE, 'If-Match': 'W/"1"' },
    });
    expect(stale.status).to.equal(412);
  });

  it('is seen by patches, and no patch stores it', async () => {
    const created = await write('POST', '/Observation', observed(), BY_AI);
    const id = String(created.json.id);
    const patch = (steps: object[], headers: Record<string, string>) =>
      write('PATCH', `/Observation/${id}`, JSON.stringify(steps), {
        'Content-Type': 'application/json-patch+json',
        ...headers,
      });
    const removed = await patch([{ op: 'remove', path: '/meta/security/0' }], BY_DEVICE);
    expect([removed.headers.get('etag'), labels(removed.text)]).to.deep.equal(['W/"1"', ['AIAST']]);
    const added = await patch([{ op: 'add', path: '/meta/security/-', value: RESTRICTED }], BY_DEVICE);
    expect([added.headers.get('etag'), labels(added.text)]).to.deep.equal(['W/"2"', ['R']]);
    expect(await logged(id, 2)).to.deep.equal(['R']);
    const byAi = await patch([{ op: 'replace', path: '/status', value: 'amended' }], BY_AI);
    expect(labels(byAi.text)).to.deep.equal(['R', 'AIAST']);
    expect(await logged(id, 3)).to.deep.equal(['R']);
  });

  it('in transactions, too', async () => {
    const bundle = {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [{ resource: JSON.parse(observed()), request: { method: 'POST', url: 'Observation' } }],
    };
    const answer = await service.post('', bundle, { ...BY_AI, Prefer: 'return=representation' });
    const { entry } = JSON.parse(answer.text) as { entry: readonly Entry[] };
    expect(entry.map(({ resource }) => labels(resource))).to.deep.equal([['AIAST']]);
  });
});
