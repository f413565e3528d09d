/** The packed TypeScript client against a real service, in Node and in a browser, and against servers that fail. */
import { execFile } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { openBrowser } from '#test/support/browser.ts';
import { type ClientPackage, packClient } from '#test/support/client-package.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { eventually, ROOT } from '#test/support/process.ts';
import { type Receiver, startReceiver } from '#test/support/receiver.ts';
import type * as Client from '../../clients/typescript/src/index.ts';

const LARGEST = 12_000;
const CALLBACK = 'http://localhost:5173/callback';
const SCOPES = [
  'openid',
  'fhirUser',
  'launch/patient',
  'offline_access',
  'patient/Observation.crus',
  'patient/Condition.rs',
];
const LETTER = 'Ms Lind was admitted with pneumonia and left in good health.';

type FirstApp = (baseUrl: string, key: string) => Promise<Record<string, Record<string, unknown>>>;
type Connect = (
  baseUrl: string,
  clientId: string,
  person: (url: string) => Promise<string>,
) => Promise<Record<string, unknown>>;

/** Does what a person does between an authorization request and its response. */
async function decide(url: string, decision = 'allow'): Promise<string> {
  const script = join(ROOT, 'docs', 'examples', 'person.mjs');
  const asked = [script, url, 's-002@patients.example.org', decision];
  return (await promisify(execFile)(process.execPath, asked)).stdout.trim();
}

describe('the TypeScript client', () => {
  let service: InProcess;
  let workshop: Workshop;
  let packed: ClientPackage;
  let browser: Browser | undefined;
  let receiver: Receiver;
  let client: typeof Client;

  before(async () => {
    [{ service, workshop }, packed, browser, receiver] = await Promise.all([
      startWorkshop(),
      packClient(),
      openBrowser(),
      startReceiver(),
    ]);
    client = await load('node_modules/@annal/client/dist/index.js');
  });
  after(async () => {
    await browser?.close();
    await receiver?.stop();
    await stopWorkshop(service);
  });

  const load = (path: string) => import(pathToFileURL(join(packed.folder, path)).href);
  const register = () => workshop.register({ redirect_uris: [CALLBACK], scopes: SCOPES });
  const withKey = (more: Partial<Client.Settings> = {}) =>
    new client.Annal({ baseUrl: service.url, credential: service.key, ...more });

  it('is packed without sources, and small', async () => {
    expect(packed.files).to.include.members([
      'dist/index.js',
      'dist/index.d.ts',
      'package.json',
      'README.md',
    ]);
    expect(packed.files.filter((name) => /\.ts$/.test(name) && !name.endsWith('.d.ts'))).to.deep.equal([]);
    const script = await packed.bundle("export * from '@annal/client';");
    expect(script).not.to.match(/\bfrom\s*["']|\brequire\(/);
    expect(gzipSync(script).length).to.be.within(3_000, LARGEST);
  });

  it('has types that refuse what the service would refuse', async () => {
    expect(await packed.check()).to.equal('');
  });

  const expectFirstApp = ({
    document,
    timeline,
    series,
    context,
    resource,
    summary,
  }: Awaited<ReturnType<FirstApp>>) => {
    const sha256 = createHash('sha256').update(LETTER).digest('hex');
    expect(document).to.include({ status: 'final', size: 60, sha256 });
    expect(Object.values(timeline ?? {}).map((entry) => (entry as { kind: string }).kind)).to.deep.equal([
      'observation',
      'document',
      'condition',
    ]);
    expect(series).to.include({ code: '4548-4', unit: '%' });
    expect(context?.tokens_used).to.be.within(10, 800);
    expect(resource).to.deep.include({ resourceType: 'Observation', status: 'final' });
    expect(summary).to.include({ resourceType: 'Bundle', type: 'document' });
  };
  const expectConnection = ({ patient, rate, corrected, refused }: Awaited<ReturnType<Connect>>) => {
    expect(JSON.stringify(patient)).to.include('Νικολαΐδη');
    expect(JSON.stringify(rate)).to.include('8867-4');
    expect(corrected).to.deep.include({ resourceType: 'Observation' });
    expect(corrected).to.have.nested.property('valueQuantity.value', 71.8);
    expect(refused).to.equal('forbidden');
  };

  it('runs the flows of the docs in Node', async () => {
    const { firstApp } = (await load('examples/first-app.ts')) as { firstApp: FirstApp };
    expectFirstApp(await firstApp(service.url, service.key));
    const { connect } = (await load('examples/connect.ts')) as { connect: Connect };
    const { client_id } = await register();
    const denied = await connect(service.url, client_id, (url) => decide(url, 'deny'));
    expect(denied).to.deep.equal({ denied: 'access_denied' });
    expectConnection(await connect(service.url, client_id, decide));
  });

  it('runs the flows of the docs in a browser, from another origin, and tells how far an upload is', async function () {
    if (browser === undefined) return this.skip();
    receiver.answer('/', (response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>App</title>');
    });
    const page = await browser.newPage();
    await page.exposeFunction('person', decide);
    await page.goto(receiver.url);
    const script = `export * from './examples/first-app.ts'; export * from './examples/connect.ts'; export * from '@annal/client';`;
    await page.evaluate(`${await packed.bundle(script, 'flows')}; globalThis.flows = flows`);
    const { client_id } = await register();
    const given = JSON.stringify({ url: service.url, key: service.key, client: client_id });
    const run = (text: string) => page.evaluate(`(async ({ url, key, client }) => ${text})(${given})`);
    expectFirstApp((await run('flows.firstApp(url, key)')) as Awaited<ReturnType<FirstApp>>);
    expectConnection((await run('flows.connect(url, client, person)')) as Awaited<ReturnType<Connect>>);
    const progress = (await run(`{
      const annal = new flows.Annal({ baseUrl: url, credential: key });
      const { id } = await annal.post('/v1/patients', { body: { family: 'Lind' } });
      const told = [];
      const letter = { title: 'Scan', kind: 'other', content_type: 'text/plain' };
      const stored = await annal.createDocument(id, letter, 'a'.repeat(300_000), { onProgress: (at) => told.push(at) });
      return [stored.size, told.at(-1)];
    }`)) as unknown[];
    expect(progress).to.deep.equal([300_000, { sent: 300_000, total: 300_000 }]);
    await page.close();
  });

  it('reads and writes FHIR: versions, conditions, pages, history, as of a moment, transactions', async () => {
    const { fhir } = withKey();
    const created = await fhir.create({ resourceType: 'Patient', name: [{ family: 'Reed' }] });
    const id = created.id ?? '';
    const first = created.meta?.lastUpdated ?? '';
    const updated = await fhir.update({ ...created, id, gender: 'female' }, { ifMatch: '1' });
    expect(updated.meta?.versionId).to.equal('2');
    const stale = await fhir.update({ ...created, id }, { ifMatch: '1' }).catch((error: unknown) => error);
    expect(stale).to.be.instanceOf(client.ApiError).and.include({ status: 412, type: 'precondition_failed' });
    expect((await fhir.read('Patient', id, { version: 1 })).gender).to.equal(undefined);
    expect((await fhir.read('Patient', id, { asOf: first })).meta?.versionId).to.equal('1');
    const weights = Array.from(
      { length: 5 },
      (_, i): Client.Fhir.BundleEntry => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
          subject: { reference: `Patient/${id}` },
          effectiveDateTime: `2026-03-0${i + 1}`,
          valueQuantity: { value: 70 + i, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
        },
        request: { method: 'POST', url: 'Observation' },
      }),
    );
    const done = await fhir.transaction(weights);
    expect(done.entry?.map(({ response }) => response?.status.slice(0, 3))).to.deep.equal(
      Array(5).fill('201'),
    );
    const search = fhir.search('Observation', { patient: id, _sort: 'date', _count: 2 });
    const values = (await search.all()).map(({ valueQuantity }) => valueQuantity?.value);
    expect(values).to.deep.equal([70, 71, 72, 73, 74]);
    expect(await search.all(3)).to.have.length(3);
    const sizes: number[] = [];
    for await (const { entry = [] } of search.pages()) sizes.push(entry.length);
    expect(sizes).to.deep.equal([2, 2, 1]);
    const everything = await fhir.everything(id, { _count: 2, _type: 'Patient,Observation' }).all();
    expect(everything.map(({ resourceType }) => resourceType).sort()).to.deep.equal([
      ...Array(5).fill('Observation'),
      'Patient',
    ]);
    const answer = await fhir.send('GET', `/Observation?patient=${id}&_count=1`);
    expect(answer.text).to.match(/^\{"resourceType":"Bundle"/);
    await fhir.delete('Patient', (await fhir.create({ resourceType: 'Patient' })).id ?? '');
    const versions = await fhir.history('Patient', id).all();
    expect(versions.map(({ resource }) => resource?.meta?.versionId)).to.deep.equal(['2', '1']);
    const missing = await fhir
      .search('Patient', { name: 'a'.repeat(5) }, { headers: { Prefer: 'handling=strict' } })
      .all();
    expect(missing).to.deep.equal([]);
  });

  it('reads lists page by page, as of a moment too, and names every invalid input of an error', async () => {
    const annal = withKey();
    const { id: patient_id } = await annal.post('/v1/patients', { body: { family: 'Pages' } });
    const add = (value: number) =>
      annal.post('/v1/patients/{patient_id}/observations', {
        patient_id,
        body: {
          code: '29463-7',
          category: 'vital-signs',
          effective_at: '2026-03-01T08:00:00Z',
          value,
          unit: 'kg',
        },
      });
    for (const value of [70, 71, 72]) await add(value);
    const asOf = (await add(73)).created_at;
    await add(74);
    const path = '/v1/patients/{patient_id}/observations';
    expect(await annal.list(path, { patient_id, limit: 2 }).all()).to.have.length(5);
    expect(await annal.list(path, { patient_id, limit: 2 }, { asOf }).all()).to.have.length(4);
    const error = await annal
      .post('/v1/patients/{patient_id}/observations', {
        patient_id,
        body: { code: '4548-4', category: 'laboratory', effective_at: 'yesterday', value: 7, unit: 'percnt' },
      })
      .then(
        () => undefined,
        (thrown: Client.ApiError) => thrown,
      );
    expect(error).to.include({ status: 422, type: 'invalid' });
    expect(error?.fields.map(({ field }) => field).sort()).to.deep.equal(['effective_at', 'unit']);
    expect(error?.requestId).to.match(/^req_/);
    const unknown = await withKey({ credential: 'sk_test_unknown' })
      .list('/v1/patients')
      .first()
      .catch((thrown) => thrown);
    expect(unknown).to.include({ status: 401, type: 'unauthenticated' });
  });

  it('stores documents and gives their bytes back, with progress', async () => {
    const annal = withKey();
    const { id } = await annal.post('/v1/patients', { body: { family: 'Papers' } });
    const told: Client.Progress[] = [];
    const letter = { title: 'Scan', kind: 'other', content_type: 'text/plain' } as const;
    const content = new Blob(['b'.repeat(200_000)]);
    const stored = await annal.createDocument(id, letter, content, { onProgress: (at) => told.push(at) });
    expect([stored.status, stored.size]).to.deep.equal(['final', 200_000]);
    expect(told.at(-1)).to.deep.equal({ sent: 200_000, total: 200_000 });
    expect(await (await annal.download(stored.id)).text()).to.equal('b'.repeat(200_000));
  });

  it('refreshes once for calls at the same time, also of two clients that share a store', async () => {
    const { client_id } = await register();
    const app = new client.AnnalApp({
      baseUrl: service.url,
      clientId: client_id,
      redirectUri: CALLBACK,
      scopes: SCOPES,
    });
    const { url, pending } = await app.authorize();
    const tokens = await app.callback(await decide(url), pending);
    let kept: Client.Tokens = { ...tokens, expiresAt: 0 };
    let saved = 0;
    let last: Promise<unknown> = Promise.resolve();
    const store: Client.TokenStore = {
      load: () => kept,
      save: (next) => {
        kept = next;
        saved += 1;
      },
      lock: (run) => {
        const turn = last.then(run);
        last = turn.catch(() => undefined);
        return turn;
      },
    };
    const [one, other] = [app.connect(store), app.connect(store)];
    const read = (annal: Client.Annal) => annal.fhir.read('Patient', tokens.patient ?? '');
    await Promise.all([one, one, other, other, one].map(read));
    expect(saved).to.equal(1);
    // The service revokes the access token early: the next call refreshes it and repeats the request.
    await app.revoke({ ...kept, refreshToken: undefined });
    await Promise.all([read(one), read(other)]);
    expect(saved).to.equal(2);
    await app.revoke(kept);
    const ended = await read(one).catch((error: unknown) => error);
    expect(ended).to.be.instanceOf(client.OAuthError).and.include({ error: 'invalid_grant' });
    const forged = new URL(await decide((await app.authorize()).url));
    const refused = await app.callback(forged, pending).catch((error: unknown) => error);
    expect(refused).to.include({ error: 'invalid_state' });
  });

  it('verifies webhooks that the service signs, and refuses changed, old and foreign ones', async () => {
    const annal = withKey();
    const body = { url: `${receiver.url}/hook`, events: ['ping' as const] };
    const endpoint = await annal.post('/v1/webhooks', { body });
    await annal.post('/v1/webhooks/{endpoint_id}/ping', { endpoint_id: endpoint.id });
    const [delivery] = await receiver.of('/hook', 1);
    const { headers, body: bytes } = delivery ?? { headers: {}, body: Buffer.of() };
    const raw = new Uint8Array(bytes);
    const { secret = '' } = endpoint as { secret?: string };
    const event = await client.verifyWebhook({ secret, headers, body: raw });
    expect(event).to.deep.include({ type: 'ping', data: { endpoint: endpoint.id } });
    const refused = async (changes: Partial<Client.Delivery>) => {
      const error = await client
        .verifyWebhook({ secret, headers, body: raw, ...changes })
        .catch((thrown) => thrown);
      expect(error).to.be.instanceOf(client.WebhookError);
    };
    await refused({ body: bytes.toString().replace('ping', 'pong') });
    await refused({ secret: `${secret}a` });
    await refused({ now: Date.now() + 301_000 });
    await refused({ headers: {} });
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac('sha256', 'whsec_other').update(`${t}.{}`).digest('hex');
    await refused({ headers: { 'Service-Signature': [`t=${t},v1=${v1}`] }, body: '{}' });
    await annal.delete('/v1/webhooks/{endpoint_id}', { endpoint_id: endpoint.id });
  });

  describe('against a server that fails', () => {
    const annal = (more: Partial<Client.Settings> = {}) =>
      new client.Annal({ baseUrl: receiver.url, credential: 'sk_test_1', ...more });
    const requests = (path: string) => receiver.received.filter((one) => one.path === path);
    /** Answers requests to a path with the given answers, one after another, repeating the last one. */
    const script = (path: string, ...answers: ((response: ServerResponse) => void)[]) => {
      let at = 0;
      receiver.answer(path, (response) => answers[Math.min(at++, answers.length - 1)]?.(response));
    };
    const json =
      (status: number, body: object, headers: Record<string, string> = {}) =>
      (response: ServerResponse) =>
        void response
          .writeHead(status, { 'Content-Type': 'application/json', ...headers })
          .end(JSON.stringify(body));
    const busy = (status: number) =>
      json(status, { error: { type: 'throttled', message: 'wait' } }, { 'Retry-After': '0' });
    const lost = (response: ServerResponse) => void response.destroy();
    const thrownBy = (call: Promise<unknown>) =>
      call.then(
        () => undefined,
        (error: unknown) => error,
      );

    it('repeats a POST with the same Idempotency-Key after a lost connection, 429 and 503', async () => {
      script('/v1/patients', lost, busy(429), busy(503), json(201, { id: 'p' }));
      expect(await annal().post('/v1/patients', { body: { family: 'Lind' } })).to.deep.equal({ id: 'p' });
      const keys = requests('/v1/patients').map(({ headers }) => headers['idempotency-key']);
      expect(keys).to.have.length(4);
      expect(new Set(keys).size).to.equal(1);
    });

    it('does not repeat a write without one, but for 429, when nothing was done', async () => {
      const patch = (n: number) => annal().fhir.patch('Patient', `p${n}`, []);
      script('/fhir/R4/Patient/p1', lost, json(200, {}));
      expect(await thrownBy(patch(1))).to.be.instanceOf(client.ConnectionError);
      script('/fhir/R4/Patient/p2', busy(503), json(200, {}));
      expect(await thrownBy(patch(2))).to.include({ status: 503, retryAfter: 0 });
      script('/fhir/R4/Patient/p3', busy(429), json(200, {}));
      await patch(3);
      expect([1, 2, 3].map((n) => requests(`/fhir/R4/Patient/p${n}`).length)).to.deep.equal([1, 1, 2]);
    });

    it('gives up after the retries, and does not wait longer than a minute', async () => {
      script('/v1/patients/a', busy(503));
      const read = (patient_id: string) =>
        annal({ retries: 2 }).get('/v1/patients/{patient_id}', { patient_id });
      expect(await thrownBy(read('a'))).to.include({ status: 503 });
      script('/v1/patients/b', json(429, {}, { 'Retry-After': '3600' }));
      expect(await thrownBy(read('b'))).to.include({ status: 429, type: 'throttled', retryAfter: 3600 });
      script('/v1/patients/c', json(503, {}), json(200, {}));
      expect(await thrownBy(read('c'))).to.include({ status: 503 });
      expect(['a', 'b', 'c'].map((id) => requests(`/v1/patients/${id}`).length)).to.deep.equal([3, 1, 1]);
    });

    it('ends by a timeout and by an abort, also between repeats', async () => {
      script('/v1/patients/d', () => undefined);
      const read = (patient_id: string, options: Client.RequestOptions) =>
        annal().get('/v1/patients/{patient_id}', { patient_id }, options);
      expect(await thrownBy(read('d', { timeoutMs: 50, retries: 1 }))).to.be.instanceOf(client.TimeoutError);
      expect(requests('/v1/patients/d')).to.have.length(2);
      const ended = new Error('the person left');
      const waiting = new AbortController();
      script('/v1/patients/e', json(503, {}, { 'Retry-After': '50' }));
      const call = thrownBy(read('e', { signal: waiting.signal }));
      await eventually(async () => requests('/v1/patients/e').length === 1);
      waiting.abort(ended);
      expect(await call).to.equal(ended);
      expect(await thrownBy(read('f', { signal: AbortSignal.abort(ended) }))).to.equal(ended);
      expect(requests('/v1/patients/f')).to.deep.equal([]);
    });

    it('keeps its credential at the service that it belongs to, wherever a next page seems to be', async () => {
      const next = (url: string) => ({
        resourceType: 'Bundle',
        link: [{ relation: 'next', url }],
        entry: [],
      });
      script('/fhir/R4/Patient', json(200, next('https://evil.example/fhir/R4/Patient?page=2')));
      script('/fhir/R4/Patient?page=2', json(200, { resourceType: 'Bundle' }));
      expect(await annal().fhir.search('Patient').all()).to.deep.equal([]);
      expect(requests('/fhir/R4/Patient?page=2')).to.have.length(1);
    });

    it('ends with an error if a page names itself as the next one', async () => {
      script('/v1/patients?limit=1', json(200, { data: [{}], next_cursor: 'same' }));
      script('/v1/patients?limit=1&cursor=same', json(200, { data: [{}], next_cursor: 'same' }));
      expect(await thrownBy(annal().list('/v1/patients', { limit: 1 }).all(5))).to.be.instanceOf(
        client.AnnalError,
      );
      const link = [{ relation: 'next', url: `${receiver.url}/fhir/R4/Condition` }];
      script('/fhir/R4/Condition', json(200, { resourceType: 'Bundle', link, entry: [{ resource: {} }] }));
      expect(await thrownBy(annal().fhir.search('Condition').all(5))).to.be.instanceOf(client.AnnalError);
      // A link that isn't below the FHIR base leads nowhere.
      const other = [{ relation: 'next', url: `${receiver.url}/elsewhere` }];
      script('/fhir/R4/Goal', json(200, { resourceType: 'Bundle', link: other }));
      expect(await thrownBy(annal().fhir.search('Goal').all())).to.be.instanceOf(client.AnnalError);
    });

    it('refuses ids that would lead to another route', async () => {
      const before = receiver.received.length;
      for (const id of ['..', '.', ''])
        for (const call of [
          () => annal().delete('/v1/webhooks/{endpoint_id}', { endpoint_id: id }),
          () => annal().fhir.delete('Patient', id),
          () => annal().fhir.read('Patient', id),
          () => annal().download(id),
          () => annal().upload(id, 'a'),
        ])
          expect(await thrownBy(call()), `${id} ${call}`).to.be.instanceOf(TypeError);
      expect(receiver.received.length).to.equal(before);
    });

    it('asks for a new token once when one was refused, and keeps it for the repeats', async () => {
      script('/v1/patients/g', json(401, {}), busy(429), json(200, { id: 'g' }));
      const asked: (string | undefined)[] = [];
      const credential = (refused?: string) => {
        asked.push(refused);
        return refused === undefined ? 'old' : `new${asked.length}`;
      };
      const read = annal({ credential, retries: 1 }).get('/v1/patients/{patient_id}', { patient_id: 'g' });
      expect(await read).to.deep.equal({ id: 'g' });
      expect(asked).to.deep.equal([undefined, 'old']);
      expect(requests('/v1/patients/g').map(({ headers }) => headers.authorization)).to.deep.equal([
        'Bearer old',
        'Bearer new2',
        'Bearer new2',
      ]);
    });

    it('does not repeat a body that can be read only once', async () => {
      script('/v1/stream', busy(429));
      const body = new Blob(['a']).stream();
      expect(await thrownBy(annal().send('POST', '/v1/stream', body))).to.include({ status: 429 });
      expect(requests('/v1/stream')).to.have.length(1);
    });

    it('throws its own errors for responses of proxies, whatever their form', async () => {
      const forms = [{ issue: 'down' }, { issue: [null] }, { error: { message: 5, errors: 'x' } }];
      for (const [n, form] of forms.entries()) {
        script(`/v1/patients/h${n}`, json(502, form));
        const read = annal({ retries: 0 }).get('/v1/patients/{patient_id}', { patient_id: `h${n}` });
        const thrown = (await thrownBy(read)) as Client.ApiError;
        expect(thrown, JSON.stringify(form)).to.be.instanceOf(client.ApiError).and.include({ status: 502 });
        expect([thrown.message, thrown.fields]).to.deep.equal(['the service answered 502', []]);
      }
      script('/v1/patients/i', (response) => response.setHeader('Content-Type', 'text/html').end('<p>Hello'));
      const page = annal().get('/v1/patients/{patient_id}', { patient_id: 'i' });
      expect(await thrownBy(page)).to.be.instanceOf(client.AnnalError);
    });

    const UPLOAD = `async (client, url) => {
      const asked = [];
      const credential = (refused) => (asked.push(refused ?? null), refused === undefined ? 'old' : 'new');
      const annal = new client.Annal({ baseUrl: url, credential });
      const told = [];
      const { id } = await annal.upload('d1', 'abc', { onProgress: (at) => told.push(at) });
      const stop = new AbortController();
      const slow = new client.Annal({ baseUrl: url, credential: async () => (stop.abort('left'), 'old') });
      const left = await slow
        .upload('d2', 'abc', { onProgress: () => undefined, signal: stop.signal })
        .catch((reason) => reason);
      return { id, asked, told: told.at(-1), left };
    }`;
    const expectUploads = (result: unknown) => {
      expect(result).to.deep.equal({
        id: 'd1',
        asked: [null, 'old'],
        told: { sent: 3, total: 3 },
        left: 'left',
      });
      expect(requests('/v1/documents/d2/content')).to.deep.equal([]);
      const sent = requests('/v1/documents/d1/content');
      expect(sent.slice(-3).map(({ body }) => body.toString())).to.deep.equal(['abc', 'abc', 'abc']);
    };
    const scriptUpload = () =>
      script('/v1/documents/d1/content', json(401, {}), busy(429), json(200, { id: 'd1' }));

    it('repeats an upload with progress as any other request', async () => {
      scriptUpload();
      const upload = new Function(`return ${UPLOAD}`)() as (of: unknown, url: string) => Promise<unknown>;
      expectUploads(await upload(client, receiver.url));
    });

    it('repeats an upload with progress in a browser, too', async function () {
      if (browser === undefined) return this.skip();
      scriptUpload();
      receiver.answer('/', (response) =>
        response.setHeader('Content-Type', 'text/html').end('<!doctype html>'),
      );
      const page = await browser.newPage();
      await page.goto(receiver.url);
      await page.evaluate(
        `${await packed.bundle("export * from '@annal/client';", 'annal')}; globalThis.annal = annal`,
      );
      expectUploads(await page.evaluate(`(${UPLOAD})(annal, ${JSON.stringify(receiver.url)})`));
      await page.close();
    });
  });
});
