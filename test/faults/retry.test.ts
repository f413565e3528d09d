/** A request that was killed between its append and its answer, and is sent again with its Idempotency-Key: one write. */

import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { type Answer, type Call, newDataDir, type Service, startService } from '#test/support/service.ts';

const SYSTEM = 'urn:annal:test';

/** A request, and the append after which the service that gets it dies (see `dying-service.ts`). */
interface DyingRequest {
  readonly diesAfter: string;
  readonly path: string;
  readonly call: Call;
}

function post(
  diesAfter: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): DyingRequest {
  const all = { 'Idempotency-Key': newUuid(), Prefer: 'return=representation', ...headers };
  return { diesAfter, path, call: { method: 'POST', body: JSON.stringify(body), headers: all } };
}

const BATCH = ['batch-1', 'batch-2', 'batch-3'];
const REQUESTS = {
  create: post('record- 1', '/Patient', patient('create')),
  conditional: post('record- 1', '/Patient', patient('conditional'), {
    'If-None-Exist': `identifier=${SYSTEM}|conditional`,
  }),
  between: post('record- 1', '', withOrganization('between')),
  both: post('directory- 1', '', withOrganization('both')),
  batch: post('record- 1', '', {
    resourceType: 'Bundle',
    type: 'batch',
    entry: BATCH.map((value) => ({ resource: patient(value), request: { method: 'POST', url: 'Patient' } })),
  }),
} satisfies Record<string, DyingRequest>;
/** Requests on patients that are there before: done twice, they would answer or do otherwise. */
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
const UNREPEATED = post('record- 1', '', withOrganization('unrepeated'));

describe('a request killed between append and answer', () => {
  let database: TestDatabase;
  let service: Service;
  let dataDir: string;
  let dyingDir: string;

  before(async () => {
    database = await createDatabase();
    [dataDir, dyingDir] = [await newDataDir(), await newDataDir()];
    service = await startService({ databaseUrl: database.url, dataDir });
    // All die first, then all are retried: one wait for the lease of the dead.
    for (const request of Object.values(REQUESTS)) await sendToDying(request);
    await sendToDying(UNREPEATED);
    for (const value of ['moved', 'tested'])
      await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient(value)) });
    for (const request of Object.values(CHANGES)) await sendToDying(request);
  });

  after(async () => {
    await service.stop();
    await database.drop();
    await Promise.all([dataDir, dyingDir].map((folder) => rm(folder, { recursive: true, force: true })));
  });

  /** Sends a request to a service that dies after an append. */
  async function sendToDying({ diesAfter, path, call }: DyingRequest): Promise<void> {
    const dying = await startService({
      databaseUrl: database.url,
      dataDir: dyingDir,
      key: service.key,
      program: 'test/faults/dying-service.ts',
      env: { DIES_AFTER: diesAfter },
    });
    const answer = await dying.fhir(path, call).catch(() => undefined);
    expect(answer, 'the service should have died').to.equal(undefined);
    await dying.stop();
  }

  /** The same request to a service that lives, twice. While the dead attempt's lease lasts it answers 409. */
  async function retry({ path, call }: DyingRequest): Promise<Answer> {
    let answer = await service.fhir(path, call);
    await eventually(async () => {
      if (answer.status === 409) answer = await service.fhir(path, call);
      return answer.status !== 409;
    }, 30_000);
    const again = await service.fhir(path, call);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.text).to.equal(answer.text);
    return answer;
  }

  async function total(search: string): Promise<unknown> {
    return (await service.fhir(search)).json.total;
  }

  it('create: one resource, 201', async () => {
    const answer = await retry(REQUESTS.create);
    expect(answer.status, answer.text).to.equal(201);
    expect(await total(`/Patient?identifier=${SYSTEM}|create`)).to.equal(1);
    expect(await total(`/Patient/${String(answer.json.id)}/_history`)).to.equal(1);
  });

  it('conditional create: its own resource is a creation, not a match', async () => {
    const answer = await retry(REQUESTS.conditional);
    expect(answer.status, answer.text).to.equal(201);
    expect(await total(`/Patient?identifier=${SYSTEM}|conditional`)).to.equal(1);
  });

  for (const [name, where] of [
    ['between', 'between the record’s and the directory’s append'],
    ['both', 'after both'],
  ] as const) {
    it(`transaction, ${where}: everything once`, async () => {
      const answer = await retry(REQUESTS[name]);
      expect(answer.status, answer.text).to.equal(200);
      expect(statuses(answer)).to.deep.equal(['201 Created', '201 Created']);
      expect(await total(`/Patient?identifier=${SYSTEM}|${name}`)).to.equal(1);
      expect(await total(`/Organization?identifier=${SYSTEM}|${name}`)).to.equal(1);
    });
  }

  it('batch: what was done is not done again, what was not is', async () => {
    expect(statuses(await retry(REQUESTS.batch))).to.deep.equal([
      '201 Created',
      '201 Created',
      '201 Created',
    ]);
    for (const value of BATCH) expect(await total(`/Patient?identifier=${SYSTEM}|${value}`)).to.equal(1);
  });

  it('a conditional update that makes its own condition false is done once', async () => {
    const answer = await retry(CHANGES.moved);
    expect(statuses(answer), answer.text).to.deep.equal(['200 OK']);
    expect(await total(`/Patient?identifier=${SYSTEM}|moved-away`)).to.equal(1);
    expect((await service.fhir('/Patient/_history?_count=200')).status).to.equal(200);
  });

  it('a patch whose own test no longer holds is answered as done', async () => {
    const answer = await retry(CHANGES.tested);
    expect(statuses(answer), answer.text).to.deep.equal(['200 OK']);
  });

  it('directory entries of a request that nobody repeats are completed by themselves', async () => {
    await eventually(async () => (await total(`/Organization?identifier=${SYSTEM}|unrepeated`)) === 1);
  });
});

function patient(value: string): JsonObject {
  return { resourceType: 'Patient', identifier: [{ system: SYSTEM, value }] };
}

function jsonPatch(operations: readonly object[]): JsonObject {
  const data = Buffer.from(JSON.stringify(operations)).toString('base64');
  return { resourceType: 'Binary', contentType: 'application/json-patch+json', data };
}

/** A new patient with a new organization: a record's and a directory's stream. */
function withOrganization(value: string): JsonObject {
  const identifier = [{ system: SYSTEM, value }];
  return {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: 'urn:uuid:22222222-2222-4222-8222-222222222222',
        resource: { resourceType: 'Organization', name: 'New', identifier },
        request: { method: 'POST', url: 'Organization' },
      },
      {
        resource: {
          resourceType: 'Patient',
          identifier,
          managingOrganization: { reference: 'urn:uuid:22222222-2222-4222-8222-222222222222' },
        },
        request: { method: 'POST', url: 'Patient' },
      },
    ],
  };
}

function statuses(answer: Answer): unknown[] {
  const { entry } = answer.json;
  if (!Array.isArray(entry)) throw new Error(answer.text);
  return entry.map((one) => (isObject(one) && isObject(one.response) ? one.response.status : undefined));
}
