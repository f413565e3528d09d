import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { readMetrics } from '#test/support/metrics.ts';
import { eventually } from '#test/support/process.ts';

/** Rules that apply to every request: docs/spec/decisions.md, section 2. */
describe('HTTP protocol', () => {
  let service: InProcess;
  let id: string;
  before(async () => {
    service = await startInProcess();
    id = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  it('gives every response a Service-Request-Id of its own', async () => {
    const paths = [
      `/Patient/${id}`,
      '/Patient/nobody',
      '/metadata',
      `${service.url}/nowhere`,
      `${service.url}/health/live`,
    ];
    const seen = new Set<string | null>();
    for (const path of paths) seen.add((await service.fhir(path)).headers.get('service-request-id'));
    expect(seen.size).to.equal(paths.length);
    for (const requestId of seen) expect(requestId).to.match(/^req_[\w-]{22}$/);
  });

  it('answers even what is no HTTP, with a request id', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write('NONSENSE\r\n\r\n');
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect(data.toString()).to.match(/^HTTP\/1\.1 400 Bad Request\r\nService-Request-Id: req_/);
    socket.destroy();
  });

  it('refuses a request without Host, in the form of the interface', async () => {
    for (const [path, form] of [
      ['/fhir/R4/Patient', '"resourceType":"OperationOutcome"'],
      ['/v1/patients', '"type":"malformed"'],
    ] as const) {
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.write(`GET ${path} HTTP/1.1\r\nAuthorization: Bearer ${service.key}\r\n\r\n`);
      const [data] = (await once(socket, 'data')) as [Buffer];
      expect(data.toString()).to.match(/^HTTP\/1\.1 400 Bad Request\r\nService-Request-Id: req_/);
      expect(data.toString()).to.include(form).and.to.include('Host is missing');
      socket.destroy();
    }
  });

  it('answers HEAD wherever it answers GET, without a body', async () => {
    for (const path of [`/Patient/${id}`, '/Patient', `/Patient/${id}/_history`, '/metadata']) {
      const get = await service.fhir(path);
      const head = await service.fhir(path, { method: 'HEAD' });
      expect([head.status, head.text]).to.deep.equal([get.status, '']);
      const names = ['etag', 'content-type', 'content-encoding', 'vary', 'last-modified'];
      // The length of a compressed body is unknown until the body has been compressed.
      if (!get.headers.has('content-encoding')) names.push('content-length');
      for (const name of names) {
        expect(head.headers.get(name), `${path} ${name}`).to.equal(get.headers.get(name));
      }
    }
  });

  it('works with and without a slash at the end', async () => {
    const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'batch' });
    for (const path of ['', '/']) {
      expect((await service.fhir(path, { method: 'POST', body: bundle })).status).to.equal(200);
    }
    expect((await service.fhir(`/Patient/${id}/`)).status).to.equal(200);
    expect((await service.fhir('/metadata/')).status).to.equal(200);
  });

  it('says what a URL takes instead of a wrong method', async () => {
    const allow = async (method: string, path: string) => {
      const answer = await service.fhir(path, { method });
      expect(answer.status, `${method} ${path}`).to.equal(405);
      return answer.headers.get('allow');
    };
    expect(await allow('PUT', '')).to.equal('GET, HEAD, POST, OPTIONS');
    expect(await allow('POST', `/Patient/${id}`)).to.equal('GET, HEAD, PUT, PATCH, DELETE, OPTIONS');
    expect(await allow('DELETE', `/Patient/${id}/_history/1`)).to.equal('GET, HEAD, OPTIONS');
    expect(await allow('PUT', '/metadata')).to.equal('GET, HEAD, OPTIONS');
    expect(await allow('DELETE', `${service.url}/health/live`)).to.contain('GET');
    const options = await service.fhir(`/Patient/${id}`, { method: 'OPTIONS', key: null });
    expect([options.status, options.headers.get('allow')]).to.deep.equal([
      204,
      'GET, HEAD, PUT, PATCH, DELETE, OPTIONS',
    ]);
  });

  it('answers what is not there: an OperationOutcome on FHIR, an error object elsewhere', async () => {
    for (const path of [
      '/Patient/a/b',
      '/Patient/a/_history/1/2',
      '/Patient/a/Observation/x',
      '/metadata/x',
      '/%zz',
    ]) {
      const answer = await service.fhir(path);
      expect([400, 404]).to.include(answer.status);
      expect(answer.json.resourceType, path).to.equal('OperationOutcome');
    }
    const elsewhere = await service.fhir(`${service.url}/v7/nothing`);
    expect(elsewhere.status).to.equal(404);
    expect(elsewhere.json).to.nested.include({
      'error.type': 'not_found',
      'error.request_id': elsewhere.headers.get('service-request-id'),
    });
    expect((await service.fhir(`${service.url}/fhir/R40`)).json).to.have.property('error');
  });

  it('serves FHIR JSON to every name of JSON', async () => {
    for (const accept of [
      '*/*',
      'application/json',
      'text/json;q=0.5',
      'application/fhir+json; fhirVersion=4.0',
      'text/html, application/xhtml+xml, */*;q=0.8',
    ]) {
      const answer = await service.fhir(`/Patient/${id}`, { headers: { Accept: accept } });
      expect(answer.status, accept).to.equal(200);
      expect(answer.headers.get('content-type')).to.equal('application/fhir+json; charset=utf-8');
    }
    for (const accept of ['text/html', 'application/json;q=0', 'application/fhir+json; fhirVersion=3.0']) {
      const answer = await service.fhir(`/Patient/${id}`, { headers: { Accept: accept } });
      expect(answer.status, accept).to.equal(406);
    }
    for (const [release, status] of [
      ['3.0', 415],
      ['"5.0"', 415],
      ['4.0', 201],
      ['4.0.1', 201],
    ] as const) {
      const answer = await service.fhir('/Patient', {
        method: 'POST',
        headers: { 'Content-Type': `application/fhir+json; charset=utf-8; fhirVersion=${release}` },
        body: '{"resourceType":"Patient"}',
      });
      expect(answer.status, release).to.equal(status);
      if (status === 415) expect(answer.text).to.contain('fhirVersion');
    }
    for (const format of ['json', 'application/fhir%2Bjson', 'application/fhir+json']) {
      const headers = { Accept: 'text/html' };
      expect((await service.fhir(`/Patient/${id}?_format=${format}`, { headers })).status).to.equal(200);
    }
  });

  it('lets browser applications in', async () => {
    const preflight = await service.fhir('/Patient', {
      method: 'OPTIONS',
      key: null,
      headers: {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers':
          'authorization, cache-control, content-encoding, if-match, traceparent, x-requested-with',
      },
    });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get('access-control-allow-origin')).to.equal('*');
    for (const name of ['If-Match', 'User-Agent', 'cache-control', 'content-encoding', 'traceparent'])
      expect(preflight.headers.get('access-control-allow-headers')).to.contain(name);
    const answer = await service.fhir(`/Patient/${id}`, { headers: { Origin: 'https://app.example' } });
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    expect(answer.headers.get('access-control-expose-headers')).to.contain('ETag').and.to.contain('Location');
    const refused = await service.fhir('/Patient', { key: null, headers: { Origin: 'https://app.example' } });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).to.deep.equal([401, '*']);
  });

  it('keeps caches and sniffers away; a client that has a version still gets 304', async () => {
    for (const [path, call, status] of [
      [`/Patient/${id}`, {}, 200],
      ['/Patient?_count=1', {}, 200],
      ['/Patient/unknown', {}, 404],
      ['/Patient', { key: null }, 401],
      [`/Patient/${id}`, { headers: { 'If-None-Match': 'W/"1"' } }, 304],
    ] as const) {
      const { headers, status: got } = await service.fhir(path, call);
      expect(got, path).to.equal(status);
      expect(headers.get('cache-control'), path).to.equal('no-store');
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
    }
  });

  it('holds a key to its scopes', async () => {
    const readOnly = await service.newProject();
    const sha256 = createHash('sha256').update(readOnly).digest('hex');
    const allow = (scopes: string[]) =>
      service.pool.query('update projects.api_key set scopes = $2 where sha256 = $1', [sha256, scopes]);
    const batch = (url: string, method: string) => ({
      method: 'POST',
      key: readOnly,
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'batch',
        entry: [{ request: { method, url } }],
      }),
    });
    const write = { method: 'POST', key: readOnly, body: '{"resourceType":"Patient"}' };
    await allow(['read']);
    expect((await service.fhir('/Patient', { key: readOnly })).status).to.equal(200);
    const refused = await service.fhir('/Patient', write);
    expect(refused.status).to.equal(403);
    expect(refused.json).to.nested.include({ 'issue[0].code': 'forbidden' });
    expect((await service.fhir('/', batch('Patient', 'GET'))).status).to.equal(200);
    const entryOf = async (url: string, method: string): Promise<unknown> => {
      const { status, json } = await service.fhir('/', batch(url, method));
      expect(status).to.equal(200);
      return json;
    };
    const denied = { 'entry[0].response.status': '403 Forbidden' };
    expect(await entryOf('Patient/1', 'DELETE')).to.nested.include(denied);
    await allow(['write']);
    expect((await service.fhir('/Patient', write)).status).to.equal(201);
    expect((await service.fhir('/Patient', { key: readOnly })).status).to.equal(403);
    expect(await entryOf('Patient', 'GET')).to.nested.include(denied);
  });

  it('refuses a key from the moment it is revoked, however often it was used before', async () => {
    const key = await service.newProject();
    for (let i = 0; i < 3; i += 1) expect((await service.fhir('/Patient', { key })).status).to.equal(200);
    const sha256 = createHash('sha256').update(key).digest('hex');
    await service.pool.query('update projects.api_key set revoked_at = 1 where sha256 = $1', [sha256]);
    for (const path of ['/Patient', `/Patient/${id}`]) {
      expect((await service.fhir(path, { key })).status).to.equal(401);
    }
  });

  it('writes nothing for a key that was revoked, though it prepares what a known key asks for', async () => {
    for (const refused of ['{"resourceType":"Patient"}', '{"resourceType":"Patient","unknown":1}', '{']) {
      const key = await service.newProject();
      expect(
        (await service.fhir('/Patient', { method: 'POST', key, body: '{"resourceType":"Patient"}' })).status,
      ).to.equal(201);
      const sha256 = createHash('sha256').update(key).digest('hex');
      await service.pool.query('update projects.api_key set revoked_at = 1 where sha256 = $1', [sha256]);
      const logged = () => service.pool.query('select count(*)::int as n from log.events');
      const before = await logged();
      expect((await service.fhir('/Patient', { method: 'POST', key, body: refused })).status).to.equal(401);
      expect((await logged()).rows).to.deep.equal(before.rows);
    }
  });

  it('logs each request with its id, and neither query, body nor credential', async () => {
    const family = 'Logbuch';
    const created = await service.post('/Patient', { resourceType: 'Patient', name: [{ family }] });
    await service.fhir('/Patient?identifier=geheim');
    const requestId = created.headers.get('service-request-id');
    const line = () =>
      service.log
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((one) => one.request_id === requestId);
    await eventually(() => line() !== undefined);
    expect(line()).to.include({
      method: 'POST',
      route: '/fhir/R4/:type',
      status: 201,
    });
    const all = service.log.join('');
    for (const secret of [family, 'geheim', service.key]) expect(all).not.to.contain(secret);
  });

  it('counts requests by route', async () => {
    const metrics = await readMetrics(service.url);
    expect(metrics).to.match(
      /http_request_duration_seconds_count\{method="GET",route="\/fhir\/R4\/:type\/:id",status="200"\} \d+/,
    );
    expect(metrics).not.to.contain(id);
  });
});
