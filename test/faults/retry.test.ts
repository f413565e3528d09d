/**
 * A request that was killed between its append and its response, and is sent again with its Idempotency-Key: it writes once.
 */

import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { results } from '#test/support/labs/parts.ts';
import { eventually } from '#test/support/process.ts';
import { newDataDir, type Service, startService } from '#test/support/service.ts';
import {
  batchOf,
  type DyingRequest,
  patient,
  post,
  retry,
  SYSTEM,
  sendToDying,
  sendToOneDying,
  statuses,
  withOrganization,
} from './dying-requests.ts';

const BATCH = ['batch-1', 'batch-2', 'batch-3'];
const BATCH_UPDATE = 'batch-4';
const REQUESTS = {
  create: post('record- 1', '/Patient', patient('create')),
  conditional: post('record- 1', '/Patient', patient('conditional'), {
    'If-None-Exist': `identifier=${SYSTEM}|conditional`,
  }),
  between: post('record- 1', '', withOrganization('between')),
  batch: post('record- 3', '', batchWithUpdate()),
  document: post('record- 1', '', withDocument('document')),
} satisfies Record<string, DyingRequest>;
/** Requests on existing patients. Executed twice, they would return or do something different. */
const CHANGES = {
  moved: post('record- 1', '', {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        resource: patient('moved-away'),
        request: { method: 'PUT', url: `Patient?identifier=${SYSTEM}|moved` },
      },
    ],
  }),
  tested: post('record- 1', '', {
    resourceType: 'Bundle',
    type: 'batch',
    entry: [
      {
        resource: jsonPatch([
          { op: 'test', path: '/identifier/0/value', value: 'tested' },
          { op: 'replace', path: '/identifier/0/value', value: 'tested-and-changed' },
        ]),
        request: { method: 'PATCH', url: `Patient?identifier=${SYSTEM}|tested` },
      },
    ],
  }),
} satisfies Record<string, DyingRequest>;
const BOTH = post('directory- 1', '', withOrganization('both'));
const UNREPEATED = post('record- 1', '', withOrganization('unrepeated'));
const SIGNED = ['signed-1', 'signed-2', 'signed-3'];

describe('a request killed between append and answer', () => {
  let database: TestDatabase;
  let service: Service;
  let dataDir: string;
  let dyingDir: string;
  let signed: DyingRequest;
  let repeated: DyingRequest;
  let labs: DyingRequest;
  /** The Observation that the request deletes. */
  let deleted = '';

  before(async () => {
    database = await createMigratedDatabase();
    [dataDir, dyingDir] = [await newDataDir(), await newDataDir()];
    service = await startService({ databaseUrl: database.url, dataDir });
    const { key } = service;
    const place = { databaseUrl: database.url, dataDir: dyingDir, key };
    const practitioner = '{"resourceType":"Practitioner"}';
    const { id } = (await service.fhir('/Practitioner', { method: 'POST', body: practitioner })).json;
    signed = post('record- 3', '', batchOf(SIGNED), { 'X-Service-Acting-As': `Practitioner/${String(id)}` });
    await sendToDying(place, signed);
    await service.fhir(`/Practitioner/${String(id)}`, { method: 'DELETE' });
    for (const value of ['moved', 'tested'])
      await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient(value)) });
    repeated = await repeatedDelete();
    const person = await service.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' });
    labs = post('record- 1', `/v1/patients/${String(person.json.id)}/labs/import`, {
      message: results('OBX|1|NM|2345-7^Glucose^LN||5|mmol/L|||||F'),
    });
    // All requests die first, then all are retried, so there is only one wait for the leases.
    await sendToDying(place, BOTH);
    const { create, ...others } = { ...REQUESTS, ...CHANGES };
    await sendToDying(place, create);
    await sendToOneDying(place, [...Object.values(others), UNREPEATED, repeated, labs]);
  });

  after(async () => {
    await service.stop();
    await database.drop();
    await Promise.all([dataDir, dyingDir].map((folder) => rm(folder, { recursive: true, force: true })));
  });

  /** Returns a transaction that changes a patient and deletes a resource that has already been deleted. */
  async function repeatedDelete(): Promise<DyingRequest> {
    const created = await service.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' });
    const id = String(created.json.id);
    const observation = { resourceType: 'Observation', status: 'final', code: { text: 'Pulse' } };
    const body = JSON.stringify({ ...observation, subject: { reference: `Patient/${id}` } });
    deleted = String((await service.fhir('/Observation', { method: 'POST', body })).json.id);
    await service.fhir(`/Observation/${deleted}`, { method: 'DELETE' });
    return post('record- 1', '', {
      resourceType: 'Bundle',
      type: 'transaction',
      entry: [
        { request: { method: 'DELETE', url: `Observation/${deleted}` } },
        {
          resource: { resourceType: 'Patient', id, active: true },
          request: { method: 'PUT', url: `Patient/${id}` },
        },
      ],
    });
  }

  async function total(search: string): Promise<unknown> {
    return (await service.fhir(search)).json.total;
  }

  it('create: one resource, 201', async () => {
    const answer = await retry(service, REQUESTS.create);
    expect(answer.status, answer.text).to.equal(201);
    expect(await total(`/Patient?identifier=${SYSTEM}|create`)).to.equal(1);
    expect(await total(`/Patient/${String(answer.json.id)}/_history`)).to.equal(1);
  });

  it('conditional create: its own resource is a creation, not a match', async () => {
    const answer = await retry(service, REQUESTS.conditional);
    expect(answer.status, answer.text).to.equal(201);
    expect(await total(`/Patient?identifier=${SYSTEM}|conditional`)).to.equal(1);
  });

  for (const [value, where, request] of [
    ['between', 'between the record’s and the directory’s append', REQUESTS.between],
    ['both', 'after both', BOTH],
  ] as const) {
    it(`transaction, ${where}: everything once`, async () => {
      const answer = await retry(service, request);
      expect(answer.status, answer.text).to.equal(200);
      expect(statuses(answer)).to.deep.equal(['201 Created', '201 Created']);
      expect(await total(`/Patient?identifier=${SYSTEM}|${value}`)).to.equal(1);
      expect(await total(`/Organization?identifier=${SYSTEM}|${value}`)).to.equal(1);
    });
  }

  it('batch: what was done is not done again, what was not is', async () => {
    const values = [...BATCH, BATCH_UPDATE];
    expect(statuses(await retry(service, REQUESTS.batch))).to.deep.equal(values.map(() => '201 Created'));
    for (const value of values) expect(await total(`/Patient?identifier=${SYSTEM}|${value}`)).to.equal(1);
  });

  it('a transaction with a document’s data: one document, and its bytes are named once', async () => {
    expect(statuses(await retry(service, REQUESTS.document))).to.deep.equal(['201 Created', '201 Created']);
    const { text } = await service.fhir(`/DocumentReference?patient.identifier=${SYSTEM}|document`);
    expect(text).to.contain('"total":1').and.contain('https://annal.dev/fhir/sha256');
  });

  it('a batch in the name of somebody who is gone by now is answered as done', async () => {
    const answer = await retry(service, signed);
    expect(answer.status, answer.text).to.equal(200);
    expect(statuses(answer)).to.deep.equal(SIGNED.map(() => '201 Created'));
    for (const value of SIGNED) expect(await total(`/Patient?identifier=${SYSTEM}|${value}`)).to.equal(1);
  });

  it('a conditional update that makes its own condition false is done once', async () => {
    const answer = await retry(service, CHANGES.moved);
    expect(statuses(answer), answer.text).to.deep.equal(['200 OK']);
    expect(await total(`/Patient?identifier=${SYSTEM}|moved-away`)).to.equal(1);
    expect((await service.fhir('/Patient/_history?_count=200')).status).to.equal(200);
  });

  it('a patch whose own test no longer holds is answered as done', async () => {
    const answer = await retry(service, CHANGES.tested);
    expect(statuses(answer), answer.text).to.deep.equal(['200 OK']);
  });

  it('a delete of what was deleted names the version that it found, not one that came since', async () => {
    const path = `/Observation/${deleted}`;
    const { text } = await service.fhir(`${path}/_history/1`);
    expect((await service.fhir(path, { method: 'PUT', body: text })).status).to.equal(201);
    const { json } = await retry(service, repeated);
    const [entry] = Array.isArray(json.entry) ? json.entry : [];
    expect(isObject(entry) && isObject(entry.response) && entry.response.etag).to.equal('W/"2"');
  });

  it('an import of laboratory results is answered as done', async () => {
    const { json, text } = await retry(service, labs);
    const { created, skipped, observations } = json;
    expect({ created, skipped }, text).to.deep.equal({ created: 1, skipped: 0 });
    const [observation] = Array.isArray(observations) ? observations : [];
    expect(observation).to.include({ code: '2345-7', value: 5, version: 1 });
  });

  it('directory entries of a request that nobody repeats are completed by themselves', async () => {
    await eventually(async () => (await total(`/Organization?identifier=${SYSTEM}|unrepeated`)) === 1);
  });
});

/** Returns a batch that makes all of its creates at the same time. Only after these, an update creates its patient. */
function batchWithUpdate(): JsonObject {
  const { entry, ...bundle } = batchOf(BATCH);
  const update = {
    resource: patient(BATCH_UPDATE),
    request: { method: 'PUT', url: `Patient?identifier=${SYSTEM}|${BATCH_UPDATE}` },
  };
  return { ...bundle, entry: [...(Array.isArray(entry) ? entry : []), update] };
}

/** Returns a new patient with a document whose text is included in the request. */
function withDocument(value: string): JsonObject {
  const fullUrl = 'urn:uuid:0b8f2c5e-6a1d-4c3b-9f70-5d2e8a4c1b90';
  const attachment = { contentType: 'text/plain', data: Buffer.from('A letter').toString('base64') };
  const document = {
    resourceType: 'DocumentReference',
    status: 'current',
    subject: { reference: fullUrl },
    content: [{ attachment }],
  };
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      { fullUrl, resource: patient(value), request: { method: 'POST', url: 'Patient' } },
      { resource: document, request: { method: 'POST', url: 'DocumentReference' } },
    ],
  };
}

function jsonPatch(operations: readonly object[]): JsonObject {
  const data = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
}
