/** A key with only the scope `write`: responses show what the key's own requests sent, and nothing that is stored. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

const SECRET = 'Underhill';
const JSON_PATCH = 'application/json-patch+json';
const REPRESENTATION = { Prefer: 'return=representation' };

describe('a key that may only write', () => {
  let service: InProcess;
  let user: AdminUser;
  let full: string;
  let writer: string;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    user = await signIn(service, 'writer@example.org');
    const { id } = (await user.done('POST', '/organizations', { name: 'Writers' })) as { id: string };
    const project = (await user.done('POST', `/organizations/${id}/projects`, { name: 'W' })) as {
      id: string;
    };
    const newKey = async (scopes: string[]): Promise<string> => {
      const body = { name: scopes.join(' '), environment: 'sandbox', scopes };
      const made = (await user.done('POST', `/projects/${project.id}/keys`, body)) as { key: string };
      return made.key;
    };
    full = await newKey(['read', 'write']);
    writer = await newKey(['write']);
    const created = await service.fhir('/Patient', {
      method: 'POST',
      key: full,
      body: JSON.stringify({
        resourceType: 'Patient',
        identifier: [{ system: 'urn:mrn', value: '1' }],
        name: [{ family: SECRET }],
        birthDate: '1960-01-01',
      }),
    });
    patient = String(created.json.id);
  });
  after(() => service.stop());

  const ask = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
    service.fhir(path, {
      method,
      key: writer,
      headers,
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const v1 = (method: string, path: string, body?: unknown, type = 'application/json'): Promise<Answer> =>
    ask(method, `${service.url}/v1${path}`, body, { 'Content-Type': type });
  const closed = (answer: Answer, status: number): void => {
    expect(answer.status, String(answer)).to.equal(status);
    expect(answer.text).to.not.contain(SECRET);
    if (status === 403) expect(answer.text).to.contain('scope read');
  };
  const MATCHING = 'identifier=urn:mrn|1';
  const someone = { resourceType: 'Patient', name: [{ family: 'Else' }] };

  it('cannot read, search or call operations', async () => {
    for (const path of [`/Patient/${patient}`, '/Patient', `/Patient/${patient}/$summary`])
      closed(await ask('GET', path), 403);
    closed(await ask('POST', '/Patient/$validate', someone), 403);
  });

  it('creates and updates, and is shown what it sent', async () => {
    const created = await ask('POST', '/Patient', someone);
    closed(created, 201);
    expect(created.json.name).to.deep.equal(someone.name);
    const id = String(created.json.id);
    const updated = await ask('PUT', `/Patient/${id}`, { ...someone, id, gender: 'female' });
    closed(updated, 200);
    expect(updated.json.gender).to.equal('female');
  });

  it('patches without being shown the resource, an empty patch too', async () => {
    const patches: [object, string][] = [
      [[], JSON_PATCH],
      [[{ op: 'add', path: '/gender', value: 'male' }], JSON_PATCH],
      [{ resourceType: 'Parameters' }, 'application/fhir+json'],
    ];
    for (const [body, type] of patches) {
      for (const more of [{}, REPRESENTATION]) {
        const answer = await ask('PATCH', `/Patient/${patient}`, body, { 'Content-Type': type, ...more });
        closed(answer, 200);
        expect(answer.text).to.equal('');
        expect(answer.version).to.be.greaterThan(0);
      }
    }
  });

  it('is not told by a patch that what is stored is implausible', async () => {
    const born = { ...someone, birthDate: '2962-01-01' };
    const made = await service.fhir('/Patient', { method: 'POST', key: full, body: JSON.stringify(born) });
    const outcome = { Prefer: 'return=OperationOutcome' };
    const patch = [{ op: 'add', path: '/gender', value: 'male' }];
    const headers = { ...outcome, 'Content-Type': JSON_PATCH };
    const answer = await ask('PATCH', `/Patient/${String(made.json.id)}`, patch, headers);
    closed(answer, 200);
    expect(answer.text).to.not.contain('future');
    expect((await ask('POST', '/Patient', born, outcome)).text).to.contain('2962-01-01 is in the future');
  });

  it('cannot ask by a patch what is stored', async () => {
    const test = [{ op: 'test', path: '/name/0/family', value: SECRET }];
    closed(await ask('PATCH', `/Patient/${patient}`, test, { 'Content-Type': JSON_PATCH }), 403);
    for (const op of ['copy', 'move']) {
      const from = [{ op, from: '/birthDate', path: '/name/0/text' }];
      closed(await ask('PATCH', `/Patient/${patient}`, from, { 'Content-Type': JSON_PATCH }), 403);
    }
    const part = [
      { name: 'type', valueCode: 'delete' },
      { name: 'path', valueString: `Patient.name.where(family='${SECRET}x')` },
    ];
    const body = { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
    closed(await ask('PATCH', `/Patient/${patient}`, body), 403);
  });

  it('cannot tell from a patch or a version what is stored', async () => {
    const made = await ask('POST', '/Patient', someone);
    const at = `/Patient/${made.json.id}`;
    const patching = (body: object, headers = {}): Promise<Answer> =>
      ask('PATCH', at, body, { 'Content-Type': JSON_PATCH, ...headers });
    const family = (value: string) => [{ op: 'replace', path: '/name/0/family', value }];
    expect((await patching(family('Else'))).version).to.equal(2);
    expect((await patching(family('Other'))).version).to.equal(3);
    const faulty = [
      [{ op: 'remove', path: '/gender' }],
      [{ op: 'add', path: '/name/7/given', value: ['a'] }],
      [{ op: 'replace', path: '/name/0/family', value: 7 }],
    ];
    const texts = new Set<string>();
    for (const body of faulty) {
      const answer = await patching(body);
      closed(answer, 422);
      texts.add(answer.text);
    }
    expect([...texts]).to.have.length(1);
    const stale = [
      await patching([], { 'If-Match': 'W/"1"' }),
      await ask('PUT', at, { ...someone, id: made.json.id }, { 'If-Match': 'W/"1"' }),
      await ask('DELETE', at, undefined, { 'If-Match': 'W/"1"' }),
    ];
    for (const answer of stale) {
      closed(answer, 412);
      expect(answer.text).to.contain("doesn't name the current version").and.not.contain('at version');
    }
    for (const _ of ['once', 'again']) {
      const answer = await ask('DELETE', at);
      expect([answer.status, answer.headers.get('etag')]).to.deep.equal([204, null]);
    }
  });

  it('learns from a status that an id or an element is there, and no more', async () => {
    const put = (id: string): Promise<Answer> => ask('PUT', `/Patient/${id}`, { ...someone, id });
    const id = String((await ask('POST', '/Patient', someone)).json.id);
    closed(await put(id), 200);
    closed(await ask('DELETE', `/Patient/${id}`), 204);
    closed(await put(id), 201);
    closed(await put(newUuid()), 405);
    const about = (reference: string): Promise<Answer> =>
      ask('POST', '/Observation', {
        ...{ resourceType: 'Observation', status: 'final', code: { text: 'a' }, subject: { reference } },
      });
    closed(await about(`Patient/${patient}`), 201);
    const dangling = await about(`Patient/${newUuid()}`);
    closed(dangling, 422);
    expect(dangling.text).to.contain('Observation.subject.reference');
    const removing = (path: string): Promise<Answer> =>
      ask('PATCH', `/Patient/${id}`, [{ op: 'remove', path }], { 'Content-Type': JSON_PATCH });
    closed(await removing('/gender'), 422);
    closed(await removing('/name'), 200);
  });

  it('cannot compare directory entries', async () => {
    const entry = { resourceType: 'Organization', name: 'Ward' };
    const made = await ask('POST', '/Organization', entry);
    const id = String(made.json.id);
    const put = (name: string) => ({
      resource: { ...entry, id, name },
      request: { method: 'PUT', url: `Organization/${id}` },
    });
    const beside = {
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'a' },
        subject: { reference: `Patient/${patient}` },
      },
      request: { method: 'POST', url: 'Observation' },
    };
    const send = (...entries: object[]): Promise<Answer> =>
      ask('POST', '/', { resourceType: 'Bundle', type: 'transaction', entry: entries });
    for (const name of ['Ward', 'Other']) closed(await send(put(name), beside), 403);
    const alone = await send(put('Ward'));
    closed(alone, 200);
    expect(alone.text).to.contain('_history/2');
  });

  it('is refused the reads of a batch alone, and a transaction with reads as a whole', async () => {
    const bundle = (type: string) => ({
      resourceType: 'Bundle',
      type,
      entry: [
        { request: { method: 'GET', url: `Patient/${patient}` } },
        { resource: someone, request: { method: 'POST', url: 'Patient' } },
      ],
    });
    closed(await ask('POST', '/', bundle('transaction')), 403);
    const answer = await ask('POST', '/', bundle('batch'));
    closed(answer, 200);
    const entries = answer.json.entry as unknown as { response: { status: string } }[];
    expect(entries.map(({ response }) => response.status.slice(0, 3))).to.deep.equal(['403', '201']);
  });

  it('cannot write under a condition, which is a search', async () => {
    closed(await ask('POST', '/Patient', someone, { 'If-None-Exist': MATCHING }), 403);
    closed(await ask('PUT', `/Patient?${MATCHING}`, someone), 403);
    closed(await ask('PATCH', `/Patient?${MATCHING}`, [], { 'Content-Type': JSON_PATCH }), 403);
    closed(await ask('DELETE', `/Patient?${MATCHING}`), 403);
  });

  it('finds the same in Bundles', async () => {
    const send = (type: string, ...entry: object[]): Promise<Answer> =>
      ask('POST', '/', { resourceType: 'Bundle', type, entry }, REPRESENTATION);
    const conditional = {
      resource: someone,
      request: { method: 'POST', url: 'Patient', ifNoneExist: MATCHING },
    };
    const referring = {
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'a' },
        subject: { reference: `Patient?${MATCHING}` },
      },
      request: { method: 'POST', url: 'Observation' },
    };
    const binary = (operations: object) => ({
      resourceType: 'Binary',
      contentType: JSON_PATCH,
      data: Buffer.from(JSON.stringify(operations)).toString('base64'),
    });
    const patching = (operations: object) => ({
      resource: binary(operations),
      request: { method: 'PATCH', url: `Patient/${patient}` },
    });
    const test = patching([{ op: 'test', path: '/name/0/family', value: SECRET }]);
    for (const entry of [conditional, referring, test]) closed(await send('transaction', entry), 403);
    const inBatch = await send('batch', conditional, test, patching([]));
    closed(inBatch, 200);
    const statuses = (inBatch.json.entry as unknown as { response: { status: string } }[]).map(
      ({ response }) => response.status.slice(0, 3),
    );
    expect(statuses).to.deep.equal(['403', '403', '200']);
    const creating = {
      resource: {
        ...referring.resource,
        code: { text: 'Else' },
        subject: { reference: `Patient/${patient}` },
      },
      request: { method: 'POST', url: 'Observation' },
    };
    const written = await send(
      'transaction',
      creating,
      patching([{ op: 'add', path: '/active', value: true }]),
    );
    closed(written, 200);
    expect(written.text).to.contain('Else');
  });

  it('of v1 replaces demographics and uploads documents without being shown what was there', async () => {
    const put = await v1('PUT', `/patients/${patient}`, { family: SECRET, birth_date: '1960-01-01' });
    expect(put.status, String(put)).to.equal(204);
    expect(put.text).to.equal('');
    const title = `about ${SECRET}`;
    const made = await v1('POST', `/patients/${patient}/documents`, { title, content_type: 'text/plain' });
    expect(made.status, String(made)).to.equal(201);
    const id = String(made.json.id);
    closed(await v1('PUT', `/documents/${id}/content`, 'bytes', 'text/plain'), 204);
    closed(await v1('POST', `/documents/${id}/finalize`, {}), 204);
    const wrong = await v1('POST', `/documents/${id}/finalize`, { size: 1 });
    closed(wrong, 403);
    closed(await v1('POST', `/documents/${id}/finalize`, { size: 5 }), 403);
    const amended = [{ op: 'replace', path: '/content/0/attachment/size', value: 5 }];
    closed(await ask('PATCH', `/DocumentReference/${id}`, amended, { 'Content-Type': JSON_PATCH }), 403);
  });

  it('imports laboratory results without being told what was there', async () => {
    const path = `/patients/${patient}/labs/import`;
    const items = (value: number) => ({
      origin: 'R1',
      items: [{ code: '2345-7', effective_at: '2026-01-01', value, unit: 'mg/dL' }],
    });
    // A new value, the same value, and a changed value.
    for (const value of [1, 1, 2]) {
      const answer = await v1('POST', path, items(value));
      expect(answer.status, String(answer)).to.equal(200);
      const { created, skipped, observations, warnings } = answer.json;
      expect({ created, skipped, observations, warnings }).to.deep.equal({
        created: 1,
        skipped: 0,
        observations: [],
        warnings: [],
      });
    }
    const message = (pid: string): string =>
      [
        'MSH|^~\\&|LIS|LAB|||20260331093000+0200||ORU^R01|M1|P|2.5.1',
        pid,
        'OBR|1||F100|24323-8^Panel^LN|||20260331080000+0200',
        'OBX|1|NM|2345-7^Glucose^LN||5.6|mmol/L|3.9-5.5|H|||F',
      ].join('\r');
    const right = ['||||Underhill', '||||||19600101', '|||||||F', '||1^^^urn:mrn'];
    const wrong = ['||||Other', '||||||19700101', '|||||||M', '||2^^^urn:mrn'];
    const answers: string[] = [];
    for (const fields of [...right, ...wrong]) {
      const answer = await v1('POST', path, message(`PID|${fields}`), 'text/plain');
      expect(answer.status, String(answer)).to.equal(403);
      answers.push(answer.text.replace(/req_[\w-]+/g, ''));
    }
    expect(answers.slice(0, right.length)).to.deep.equal(answers.slice(right.length));
    const bare = await v1('POST', path, message('PID|1'), 'text/plain');
    expect(bare.status, String(bare)).to.equal(200);
    expect(bare.json.created).to.equal(1);
  });

  it('neither opens nor redirects webhooks, nor has events sent again: they tell what others write', async () => {
    const hook = { url: 'http://localhost:9/hook', events: ['*'] };
    const asOwner = (method: string, path: string, body?: unknown): Promise<Answer> =>
      service.fhir(`${service.url}/v1${path}`, {
        method,
        key: full,
        headers: { 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const made = await asOwner('POST', '/webhooks', hook);
    const at = `/webhooks/${made.json.id}`;
    closed(await v1('POST', '/webhooks', hook), 403);
    closed(await v1('PATCH', at, { url: 'http://localhost:10/mine' }), 403);
    for (const path of ['rotate', 'deliveries/redeliver-exhausted', 'deliveries/whd_1/redeliver'])
      closed(await v1('POST', `${at}/${path}`), 403);
    closed(await v1('POST', `${at}/replay`, { from: '2026-01-01T00:00:00Z' }), 403);
    closed(await v1('DELETE', `${at}/replay`), 403);
    expect((await asOwner('GET', at)).json.url).to.equal(hook.url);
    closed(await v1('POST', `${at}/ping`), 204);
    closed(await v1('DELETE', at), 204);
  });
});
