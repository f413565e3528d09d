import { randomBytes, randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import S3rver from 's3rver';
import { DiskStore } from '#src/documents/disk.ts';
import { type S3Settings, S3Store } from '#src/documents/s3.ts';
import {
  BlobExists,
  type BlobKey,
  BlobMissing,
  type DocumentStore,
  type ListedBlob,
} from '#src/documents/store.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { freePort } from '#test/support/process.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const keyOf = (): BlobKey => ({ patient: randomUUID(), document: randomUUID(), blob: randomUUID() });

async function* chunksOf(...chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks) yield chunk;
}

async function* broken(first: Buffer): AsyncGenerator<Buffer> {
  yield first;
  throw new Error('the source broke off');
}

async function refused(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Tests that an adapter meets the port's contract. */
function keepsItsPromises(open: () => DocumentStore): void {
  const read = async (key: BlobKey, range?: { start: number; end: number }): Promise<Buffer> => {
    const chunks: Buffer[] = [];
    for await (const chunk of await open().get(key, range)) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  };
  const listed = async (patient: string): Promise<ListedBlob[]> => {
    const all: ListedBlob[] = [];
    for await (const blob of open().list()) if (blob.patient === patient) all.push(blob);
    return all;
  };

  it('gives back what it was given, whole and in part', async () => {
    for (const size of [1, 8 * 1024 * 1024, 9_000_001]) {
      const key = keyOf();
      const bytes = randomBytes(size);
      const middle = Math.floor(size / 3);
      await open().put(key, chunksOf(bytes.subarray(0, middle), bytes.subarray(middle)));
      expect(await open().size(key)).to.equal(size);
      expect((await read(key)).equals(bytes), `${size} bytes`).to.equal(true);
      const part = { start: middle, end: size - 1 };
      expect((await read(key, part)).equals(bytes.subarray(middle))).to.equal(true);
      await open().remove(key);
    }
  });

  it('has nothing of what broke off, little or much', async () => {
    for (const size of [10, 17_000_000]) {
      const key = keyOf();
      expect(await refused(open().put(key, broken(randomBytes(size))))).to.match(/broke off/);
      expect(await open().size(key)).to.equal(undefined);
      expect(await refused(open().get(key))).to.be.instanceOf(BlobMissing);
      expect(await listed(key.patient)).to.deep.equal([]);
    }
  });

  it('lists what it has and removes it: a blob, or a record', async () => {
    const [one, other] = [keyOf(), keyOf()];
    const beside = { ...one, document: randomUUID() };
    for (const key of [one, other, beside]) await open().put(key, chunksOf(Buffer.from('x')));
    const before = await listed(one.patient);
    expect(before.map(({ document }) => document).sort()).to.deep.equal(
      [one.document, beside.document].sort(),
    );
    for (const { modified } of before)
      expect(Math.abs(modified.getTime() - Date.now())).to.be.lessThan(3_600_000);
    await open().remove(beside);
    await open().remove(beside);
    expect(await listed(one.patient)).to.have.length(1);
    await open().removeRecord(one.patient);
    await open().removeRecord(one.patient);
    expect(await listed(one.patient)).to.deep.equal([]);
    expect(await listed(other.patient)).to.have.length(1);
    await open().removeRecord(other.patient);
    await open().removeUnfinished(new Date());
  });
}

describe('the document store in a folder', () => {
  let store: DiskStore;
  before(async () => {
    store = new DiskStore(join(await temporaryFolder(), 'documents'));
  });
  keepsItsPromises(() => store);

  it('stores a name once, of many at once one', async () => {
    const key = keyOf();
    const all = ['a', 'b', 'c', 'd'];
    const results = await Promise.all(
      all.map((text) => refused(store.put(key, chunksOf(Buffer.from(text))))),
    );
    expect(results.filter((error) => error instanceof BlobExists)).to.have.length(3);
    expect(await readdir(join(store.folder, key.patient, key.document))).to.deep.equal([key.blob]);
  });

  it('takes no name that leads elsewhere', async () => {
    for (const blob of ['../x', 'a/b', '', '.hidden'])
      expect(await refused(store.put({ ...keyOf(), blob }, chunksOf())), blob).to.be.instanceOf(TypeError);
  });

  it('leaves clients no way past the service', async () => {
    expect(await store.upload()).to.equal(undefined);
    expect(await store.download()).to.equal(undefined);
  });
});

describe('the document store in an S3 bucket', () => {
  let server: S3rver;
  let store: S3Store;
  let settings: S3Settings;
  before(async () => {
    const port = await freePort();
    const bucket = 'annal';
    server = new S3rver({
      port,
      silent: true,
      directory: await temporaryFolder(),
      configureBuckets: [{ name: bucket, configs: [] }],
    });
    await server.run();
    const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' };
    settings = { bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, credentials };
    store = new S3Store(settings);
  });
  after(async () => {
    store.close();
    await server.close();
  });
  keepsItsPromises(() => store);

  it('signs an upload that demands to be the first, and a download with its name', async () => {
    const key = keyOf();
    const { url, headers } = await store.upload(key, 'text/plain', 60);
    expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).to.contain('if-none-match');
    expect(new URL(url).searchParams.get('X-Amz-Expires')).to.equal('60');
    expect(headers).to.deep.equal({ 'Content-Type': 'text/plain', 'If-None-Match': '*' });
    const put = await fetch(url, { method: 'PUT', headers, body: 'direct' });
    expect(put.status, await put.text()).to.equal(200);
    const disposition = 'attachment; filename="a.txt"';
    const get = await fetch(
      await store.download(key, { contentType: 'text/plain', disposition, expiresInSeconds: 60 }),
    );
    expect([await get.text(), get.headers.get('content-disposition')]).to.deep.equal(['direct', disposition]);
  });

  it('that is away is unavailable', async () => {
    const away = new S3Store({ ...settings, endpoint: `http://127.0.0.1:${await freePort()}` });
    const error = await refused(away.size(keyOf()));
    expect(error).to.be.instanceOf(Refusal);
    expect((error as Refusal).kind).to.equal('unavailable');
    away.close();
  });
});

/** Upload signatures and conditions, which s3rver doesn't check. `S3_TEST_ENDPOINT` names a service that does. */
describe('the document store in a bucket of S3_TEST_ENDPOINT', () => {
  const { S3_TEST_ENDPOINT, S3_TEST_BUCKET = 'annal-test', S3_TEST_REGION = 'us-east-1' } = process.env;
  let store: S3Store;
  before(function () {
    if (S3_TEST_ENDPOINT === undefined) this.skip();
    store = new S3Store({ bucket: S3_TEST_BUCKET, region: S3_TEST_REGION, endpoint: S3_TEST_ENDPOINT });
  });
  after(() => store?.close());
  keepsItsPromises(() => store);

  it('takes a direct upload once, and none with another signature or without its condition', async () => {
    const key = keyOf();
    const { url, headers } = await store.upload(key, 'text/plain', 60);
    const put = async (to: string, sent: Record<string, string>): Promise<number> =>
      (await fetch(to, { method: 'PUT', headers: sent, body: 'direct' })).status;
    expect(await put(url.replace(/(X-Amz-Signature=)./, '$1_'), headers)).to.equal(403);
    expect(await put(url, { 'Content-Type': 'text/plain' })).to.equal(403);
    expect(await put(url, headers)).to.equal(200);
    expect(await put(url, headers)).to.equal(412);
    await store.removeRecord(key.patient);
  });

  it('gives a download under its name, and none with another signature', async () => {
    const key = keyOf();
    await store.put(key, chunksOf(Buffer.from('direct')));
    const disposition = `attachment; filename="a.txt"; filename*=UTF-8''%C3%A4.txt`;
    const told = { contentType: 'text/plain; charset=utf-8', disposition, expiresInSeconds: 60 };
    const url = await store.download(key, told);
    const get = await fetch(url);
    const named = ['content-type', 'content-disposition'].map((name) => get.headers.get(name));
    expect([await get.text(), ...named]).to.deep.equal(['direct', told.contentType, disposition]);
    for (const changed of [url.replace(/(X-Amz-Signature=)./, '$1_'), url.replace('a.txt', 'b.txt')])
      expect((await fetch(changed)).status, changed).to.equal(403);
    await store.remove(key);
    expect((await fetch(url)).status).to.equal(404);
  });

  it('is unavailable to whom it does not know', async () => {
    const credentials = { accessKeyId: 'nobody', secretAccessKey: 'nothing' };
    const stranger = new S3Store({
      bucket: S3_TEST_BUCKET,
      region: S3_TEST_REGION,
      endpoint: S3_TEST_ENDPOINT,
      credentials,
    });
    const errors = await Promise.all(
      [stranger.put(keyOf(), chunksOf(Buffer.from('x'))), stranger.get(keyOf()), stranger.size(keyOf())].map(
        refused,
      ),
    );
    for (const error of errors) expect((error as Refusal).kind).to.equal('unavailable');
    stranger.close();
  });
});
