import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

/** https://hl7.org/fhir/R4/http.html, on one instance. */
describe('FHIR interactions', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const patient = (family: string, more: object = {}) => ({
    resourceType: 'Patient',
    name: [{ family }],
    ...more,
  });
  const created = async (family: string, more: object = {}): Promise<string> =>
    String((await service.post('/Patient', patient(family, more))).json.id);
  const put = (id: string, family: string, headers: Record<string, string> = {}) =>
    service.fhir(`/Patient/${id}`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(patient(family, { id })),
    });

  it('creates: 201, Location of the version, ETag, Last-Modified, the resource', async () => {
    const answer = await service.post(
      '/Patient',
      patient('Ada', { id: 'client-id', meta: { versionId: '9' } }),
    );
    expect(answer.status).to.equal(201);
    const { id, meta } = answer.json as { id: string; meta: { versionId: string; lastUpdated: string } };
    expect(id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(answer.headers.get('location')).to.equal(`${service.base}/Patient/${id}/_history/1`);
    expect(answer.headers.get('etag')).to.equal('W/"1"');
    expect(answer.headers.get('content-type')).to.equal('application/fhir+json; charset=utf-8');
    expect(meta.versionId).to.equal('1');
    const seconds = (text: string | null) => Math.floor(Date.parse(text ?? '') / 1000);
    expect(seconds(answer.headers.get('last-modified'))).to.equal(seconds(meta.lastUpdated));
    expect((await service.fhir(`/Patient/${id}`)).text).to.equal(answer.text);
  });

  it('answers as Prefer asks', async () => {
    const body = JSON.stringify(patient('Prefer'));
    const send = (prefer: string) =>
      service.fhir('/Patient', { method: 'POST', body, headers: { Prefer: prefer } });
    const minimal = await send('return=minimal');
    expect([minimal.status, minimal.text]).to.deep.equal([201, '']);
    expect(minimal.headers.get('location')).to.match(/\/Patient\/[0-9a-f-]{36}\/_history\/1$/);
    const outcome = await send('handling=lenient, return=OperationOutcome');
    expect(outcome.json.resourceType).to.equal('OperationOutcome');
    expect((await send('return=representation')).json.resourceType).to.equal('Patient');
    expect((await send('respond-async; wait=3')).json.resourceType).to.equal('Patient');
  });

  it('tells what is implausible with return=OperationOutcome', async () => {
    type Told = { issue: { severity: string; code: string; diagnostics: string; expression?: string[] }[] };
    const outcome = async (method: string, path: string, body: unknown, type?: string): Promise<string[]> => {
      const answer = await service.fhir(path, {
        method,
        body: JSON.stringify(body),
        headers: {
          Prefer: 'return=OperationOutcome',
          ...(type === undefined ? {} : { 'Content-Type': type }),
        },
      });
      expect(answer.status, answer.text).to.be.oneOf([200, 201]);
      const { issue } = JSON.parse(answer.text) as Told;
      return issue
        .filter(({ severity }) => severity === 'warning')
        .map(({ code, diagnostics, expression = [] }) => `${code} ${expression.join()}: ${diagnostics}`);
    };
    const id = await created('Implausible');
    const weight = (value: number, code: string) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
      subject: { reference: `Patient/${id}` },
      valueQuantity: { value, unit: code, system: 'http://unitsofmeasure.org', code },
    });
    const heavy = [
      'value Observation.value.ofType(Quantity): 7000 kg is outside what is possible in a living person (0.1 to 700 kg)',
    ];
    expect(await outcome('POST', '/Observation', weight(7_000, 'kg'))).to.deep.equal(heavy);
    expect(await outcome('POST', '/Observation', weight(70, 'kg'))).to.deep.equal([]);
    expect(await outcome('POST', '/Observation', weight(70, 'mmol/L'))).to.deep.equal([
      'value Observation.value.ofType(Quantity).code: the unit mmol/L does not fit LOINC 29463-7, which is measured in kg',
    ]);
    const { id: own } = (await service.post('/Observation', weight(70, 'kg'))).json;
    const place = `/Observation/${String(own)}`;
    expect(await outcome('PUT', place, { ...weight(7_000, 'kg'), id: own })).to.deep.equal(heavy);
    const patch = [{ op: 'replace', path: '/valueQuantity/value', value: 7_000 }];
    const patched = await outcome('PATCH', place, patch, 'application/json-patch+json');
    // This patch changes nothing, so nothing is written.
    expect(patched).to.deep.equal([]);
    const more = [{ op: 'replace', path: '/valueQuantity/value', value: 8_000 }];
    expect(await outcome('PATCH', place, more, 'application/json-patch+json')).to.have.length(1);
    const born = { ...patient('Implausible'), birthDate: '2962-01-01' };
    expect(await outcome('POST', '/Patient', born)).to.deep.equal([
      'value Patient.birthDate: 2962-01-01 is in the future',
    ]);
  });

  it('reads on condition: 304 for what the client has', async () => {
    const id = await created('Conditional');
    const read = (headers: Record<string, string>) => service.fhir(`/Patient/${id}`, { headers });
    const first = await read({});
    const modified = first.headers.get('last-modified') ?? '';
    const same = await read({ 'If-None-Match': 'W/"1"' });
    expect([same.status, same.text, same.headers.get('etag')]).to.deep.equal([304, '', 'W/"1"']);
    expect((await read({ 'If-None-Match': 'W/"7", "1"' })).status).to.equal(304);
    expect((await read({ 'If-None-Match': 'W/"2"' })).status).to.equal(200);
    expect((await read({ 'If-Modified-Since': modified })).status).to.equal(304);
    const before = new Date(Date.parse(modified) - 1000).toUTCString();
    expect((await read({ 'If-Modified-Since': before })).status).to.equal(200);
    expect((await read({ 'If-None-Match': 'W/"2"', 'If-Modified-Since': modified })).status).to.equal(200);
    const version = await service.fhir(`/Patient/${id}/_history/1`, {
      headers: { 'If-None-Match': 'W/"1"' },
    });
    expect(version.status).to.equal(304);
  });

  it('updates: the next version, with If-Match only the one it names', async () => {
    const id = await created('One');
    const second = await put(id, 'Two', { 'If-Match': 'W/"1"' });
    expect([second.status, second.version, second.headers.get('location')]).to.deep.equal([200, 2, null]);
    const stale = await put(id, 'Three', { 'If-Match': 'W/"1"' });
    expect(stale.status).to.equal(412);
    expect(stale.json).to.nested.include({ 'issue[0].code': 'conflict' });
    expect((await service.fhir(`/Patient/${id}/_history/1`)).json).to.nested.include({
      'name[0].family': 'One',
    });
    expect((await service.fhir(`/Patient/${id}/_history/2`)).text).to.equal(second.text);
    for (const version of ['0', '3', 'x', '1.0']) {
      expect((await service.fhir(`/Patient/${id}/_history/${version}`)).status).to.equal(404);
    }
  });

  it('refuses If-None-Match on writes, which it would have to ignore', async () => {
    const id = await created('One');
    const answers = [
      await put(id, 'Two', { 'If-None-Match': '*' }),
      await service.fhir(`/Patient/${id}`, { method: 'DELETE', headers: { 'If-None-Match': 'W/"1"' } }),
      await service.fhir(`/Patient?_id=${id}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json-patch+json', 'If-None-Match': '*' },
        body: '[{"op":"add","path":"/active","value":true}]',
      }),
    ];
    for (const { status, json, text } of answers) {
      expect(status, text).to.equal(400);
      expect(json).to.nested.include({ 'issue[0].code': 'not-supported' });
      expect(text).to.contain('http.if-none-match');
    }
    expect((await service.fhir(`/Patient/${id}`)).version).to.equal(1);
  });

  it('deletes softly: 204, then 410 on read and vread, and restores by update: 201', async () => {
    const id = await created('Gone');
    const first = await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    expect([first.status, first.text, first.version]).to.deep.equal([204, '', 2]);
    const again = await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    expect(again.status).to.equal(204);
    const read = await service.fhir(`/Patient/${id}`);
    expect([read.status, read.version]).to.deep.equal([410, 2]);
    expect(read.json).to.nested.include({ 'issue[0].code': 'deleted' });
    expect((await service.fhir(`/Patient/${id}/_history/2`)).status).to.equal(410);
    const history = await service.fhir(`/Patient/${id}/_history`);
    expect(history.json).to.nested.include({
      total: 2,
      'entry[0].request.method': 'DELETE',
      'entry[1].request.method': 'POST',
    });
    expect(history.json).not.to.have.nested.property('entry[0].resource');
    const restored = await put(id, 'Back');
    expect([restored.status, restored.version]).to.deep.equal([201, 3]);
    expect(restored.headers.get('location')).to.equal(`${service.base}/Patient/${id}/_history/3`);
    const never = await service.fhir('/Patient/01890000-0000-7000-8000-000000000000', { method: 'DELETE' });
    expect(never.status).to.equal(204);
  });

  it('patches by JSON Patch and by FHIRPath Patch', async () => {
    const id = await created('Patched');
    const json = await service.fhir(`/Patient/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json-patch+json', 'If-Match': 'W/"1"' },
      body: JSON.stringify([{ op: 'add', path: '/gender', value: 'female' }]),
    });
    expect([json.status, json.version, json.json.gender]).to.deep.equal([200, 2, 'female']);
    const operation = {
      name: 'operation',
      part: [
        { name: 'type', valueCode: 'replace' },
        { name: 'path', valueString: 'Patient.gender' },
        { name: 'value', valueCode: 'other' },
      ],
    };
    const fhirPath = await service.fhir(`/Patient/${id}`, {
      method: 'PATCH',
      body: JSON.stringify({ resourceType: 'Parameters', parameter: [operation] }),
    });
    expect([fhirPath.status, fhirPath.json.gender]).to.deep.equal([200, 'other']);
  });

  it('creates, updates, patches and deletes on condition', async () => {
    const identifier = [{ system: 'urn:conditional', value: 'a' }];
    const criteria = 'identifier=urn:conditional|a';
    const create = () =>
      service.fhir('/Patient', {
        method: 'POST',
        headers: { 'If-None-Exist': criteria },
        body: JSON.stringify(patient('First', { identifier })),
      });
    const first = await create();
    expect(first.status).to.equal(201);
    const matched = await create();
    expect([matched.status, matched.json.id]).to.deep.equal([200, first.json.id]);
    expect(matched.headers.get('location')).to.equal(first.headers.get('location'));
    const update = await service.fhir(`/Patient?${criteria}`, {
      method: 'PUT',
      body: JSON.stringify(patient('Second', { identifier })),
    });
    expect([update.status, update.version, update.json.id]).to.deep.equal([200, 2, first.json.id]);
    const patched = await service.fhir(`/Patient?${criteria}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json-patch+json' },
      body: '[{"op":"add","path":"/active","value":true}]',
    });
    expect([patched.status, patched.version]).to.deep.equal([200, 3]);
    const deleted = await service.fhir(`/Patient?${criteria}`, { method: 'DELETE' });
    expect([deleted.status, deleted.version]).to.deep.equal([204, 4]);
    expect((await service.fhir(`/Patient?${criteria}`, { method: 'DELETE' })).status).to.equal(204);
    expect((await service.fhir(`/Patient/${first.json.id}`)).status).to.equal(410);
  });

  it('keeps 1.50 as 1.50 in create, read, vread, history and search', async () => {
    const id = await created('Decimal');
    const body = `{"resourceType":"Observation","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/${id}"},"valueQuantity":{"value":1.50}}`;
    const answer = await service.fhir('/Observation', { method: 'POST', body });
    expect(answer.status).to.equal(201);
    const at = `/Observation/${answer.json.id}`;
    for (const path of [at, `${at}/_history/1`, `${at}/_history`, `/Observation?_id=${answer.json.id}`]) {
      expect((await service.fhir(path)).text).to.contain('"value":1.50}');
    }
    expect(answer.text).to.contain('"value":1.50}');
  });

  it('purges a Patient with everything', async () => {
    const id = await created('Purged');
    await put(id, 'Twice');
    const answer = await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
    expect(answer.status).to.equal(204);
    expect((await service.fhir(`/Patient/${id}`)).status).to.equal(404);
    expect((await service.fhir(`/Patient/${id}/_history`)).status).to.equal(404);
    expect((await service.fhir(`/Provenance?target=Patient/${id}`)).json.total).to.equal(0);
  });

  it('describes itself without a credential', async () => {
    const answer = await service.fhir('/metadata', { key: null });
    expect(answer.status).to.equal(200);
    expect(answer.json).to.include({ resourceType: 'CapabilityStatement', fhirVersion: '4.0.1' });
  });
});
