/** Compressed and indented responses: docs/fhir.md, docs/api.md */
import { type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Sent {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it came. */
  readonly bytes: Buffer;
}

const DECODE: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: gunzipSync,
  br: brotliDecompressSync,
};

describe('compression', () => {
  let service: InProcess;
  let long: string;
  let short: string;

  before(async () => {
    service = await startInProcess();
    const create = async (family: string): Promise<string> => {
      const { json } = await service.post('/Patient', { resourceType: 'Patient', name: [{ family }] });
      return `/fhir/R4/Patient/${String(json.id)}`;
    };
    long = await create('Å'.repeat(3_000));
    short = await create('Ek');
  });
  after(() => service.stop());

  const ask = (
    path: string,
    headers: Readonly<Record<string, string>>,
    method: string,
    body?: object,
  ): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const sent = request(service.url + path, { method, headers }, (res) => {
        const chunks: Buffer[] = [];
        res.on('data', (chunk: Buffer) => chunks.push(chunk));
        res.on('end', () =>
          resolve({ status: res.statusCode ?? 0, headers: res.headers, bytes: Buffer.concat(chunks) }),
        );
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Sent> =>
    ask(path, { Authorization: `Bearer ${service.key}`, ...headers }, method);
  const decoded = ({ headers, bytes }: Sent): string =>
    (DECODE[headers['content-encoding'] ?? ''] ?? ((plain: Buffer) => plain))(bytes).toString();
  const codingOf = async (path: string, accepted: string): Promise<string | undefined> =>
    (await get(path, { 'Accept-Encoding': accepted })).headers['content-encoding'];

  it('is what the client prefers of gzip and br, from 2 kB on, and the same text', async () => {
    const plain = await get(long);
    expect(plain.headers).to.include({ vary: 'Accept-Encoding' }).and.not.have.property('content-encoding');
    for (const coding of ['gzip', 'br']) {
      const sent = await get(long, { 'Accept-Encoding': coding });
      expect(sent.headers).to.include({ 'content-encoding': coding, vary: 'Accept-Encoding' });
      expect(sent.headers.etag).to.equal('W/"1"');
      expect(Number(sent.headers['content-length'])).to.equal(sent.bytes.length).and.be.below(1_000);
      expect(decoded(sent)).to.equal(plain.bytes.toString());
    }
    expect(await codingOf(long, 'gzip, deflate, br')).to.equal('gzip');
    expect(await codingOf(long, 'gzip;q=0.5, br')).to.equal('br');
    expect(await codingOf(long, 'deflate, zstd')).to.equal(undefined);
    expect(await codingOf(long, 'gzip;q=0')).to.equal(undefined);
    expect(await codingOf(long, 'identity, gzip;q=0.1')).to.equal(undefined);
    const few = await get(short, { 'Accept-Encoding': 'gzip' });
    expect(few.headers).to.not.have.any.keys('content-encoding', 'vary');
    expect((await get(long, { 'Accept-Encoding': 'gzip' }, 'HEAD')).bytes.length).to.equal(0);
    const known = await get(long, { 'Accept-Encoding': 'gzip', 'If-None-Match': 'W/"1"' });
    expect([known.status, known.headers.vary]).to.deep.equal([304, 'Accept-Encoding']);
  });

  it('is of JSON and assets: errors, lists, the description and scripts, not of pages', async () => {
    const wrong = Array.from({ length: 20 }, (_, n) => `wrong${n}${'x'.repeat(60)}=1`).join('&');
    for (const path of [
      `/fhir/R4/Patient?${wrong}`,
      '/fhir/R4/metadata',
      '/fhir/R4/Patient?_count=5',
      '/openapi.json',
      '/docs/assets/reference.js',
      '/docs/assets/annal.css',
    ]) {
      const plain = await get(path, path.startsWith('/docs') ? {} : { Prefer: 'handling=lenient' });
      const sent = await get(path, { 'Accept-Encoding': 'br' });
      expect([sent.headers['content-encoding'], sent.headers.vary], path).to.deep.equal([
        'br',
        'Accept-Encoding',
      ]);
      expect(decoded(sent).length, path).to.equal(plain.bytes.toString().length);
      expect(sent.headers.etag, path).to.equal(plain.headers.etag);
    }
    expect(await codingOf('/docs/errors', 'gzip')).to.equal(undefined);
  });

  it('is never of secrets, of documents, or of answers to a cookie', async () => {
    const accepting = { 'Accept-Encoding': 'gzip' };
    expect((await get(long, { ...accepting, Cookie: 'a=b' })).headers).to.not.have.property(
      'content-encoding',
    );
    const post = (path: string, body: object, credential: string): Promise<Sent> =>
      ask(
        path,
        { ...accepting, Authorization: `Bearer ${credential}`, 'Content-Type': 'application/json' },
        'POST',
        body,
      );
    const owner = await signIn(service, 'owner@compression.example');
    const organization = await owner.done('POST', '/organizations', { name: 'Clinic' });
    const project = await owner.done('POST', `/organizations/${organization.id}/projects`, { name: 'P' });
    const application = {
      name: 'Portal',
      kind: 'confidential',
      redirect_uris: Array.from({ length: 20 }, (_, n) => `https://portal.example/${'x'.repeat(200)}${n}`),
      scopes: ['patient/*.rs'],
    };
    const registered = await post(`/admin/projects/${project.id}/applications`, application, owner.token);
    expect(registered.status, registered.bytes.toString()).to.equal(201);
    expect(registered.bytes.toString()).to.contain('client_secret');
    expect(registered.headers).to.not.have.any.keys('content-encoding', 'vary');
    const listed = await get(`/admin/projects/${project.id}/applications`, {
      ...accepting,
      Authorization: `Bearer ${owner.token}`,
    });
    expect(listed.headers['content-encoding']).to.equal('gzip');
    const patient = long.slice('/fhir/R4/Patient/'.length);
    const document = await post(
      `/v1/patients/${patient}/documents`,
      { title: 't', content_type: 'application/json', date: '2026-01-01' },
      service.key,
    );
    const { id: documentId } = JSON.parse(document.bytes.toString()) as { id: string };
    const content = `/v1/documents/${documentId}/content`;
    const text = JSON.stringify({ x: 'y'.repeat(5_000) });
    const upload = await service.fhir(service.url + content, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: text,
    });
    expect(upload.status, upload.text).to.equal(200);
    const sent = await get(content, accepting);
    expect([sent.headers['content-encoding'], sent.bytes.length]).to.deep.equal([undefined, text.length]);
  });

  it('goes with long answers while they are made, and with indents', async () => {
    const notes = Array.from({ length: 6 }, () => ({ text: 'long '.repeat(200_000) }));
    const subject = { reference: long.slice('/fhir/R4/'.length) };
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject,
      note: notes,
    };
    await service.post('/Observation', observation);
    const path = `${long}/$everything`;
    const plain = await get(path);
    expect(plain.headers).to.not.have.property('content-length');
    expect(plain.bytes.length).to.be.above(6_000_000);
    for (const coding of ['gzip', 'br']) {
      const sent = await get(path, { 'Accept-Encoding': coding });
      expect(sent.headers['content-encoding']).to.equal(coding);
      expect(sent.bytes.length).to.be.below(100_000);
      expect(decoded(sent) === plain.bytes.toString(), coding).to.equal(true);
    }
    const indented = await get(`${path}?_pretty=true`, { 'Accept-Encoding': 'gzip' });
    const links = /"link": \[[^\]]*\]/;
    const expected = JSON.stringify(JSON.parse(plain.bytes.toString()), null, 2).replace(links, '');
    expect(decoded(indented).replace(links, '') === expected).to.equal(true);
  });

  it('indents with _pretty=true alone, errors and forms as well', async () => {
    const { bytes } = await get(short);
    const indented = JSON.stringify(JSON.parse(bytes.toString()), null, 2);
    expect((await get(`${short}?_pretty=true`)).bytes.toString()).to.equal(indented);
    expect((await get(`${short}?_pretty=false`)).bytes.toString()).to.equal(bytes.toString());
    expect((await get('/fhir/R4/Patient/none?_pretty=true')).bytes.toString()).to.match(
      /^\{\n {2}"resourceType"/,
    );
    const form = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } };
    const { text } = await service.fhir('/Patient/_search', { ...form, body: '_pretty=true' });
    expect(text).to.match(/^\{\n {2}"resourceType": "Bundle"/);
  });
});
