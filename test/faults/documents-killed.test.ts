import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { expect } from 'chai';
import { openShownBlobs } from '#queries/rest/document-blobs.ts';
import { DiskStore } from '#src/documents/disk.ts';
import { sweepDocuments } from '#src/documents/sweep.ts';
import { openEventStore } from '#src/events/open.ts';
import { PostgresCriteriaLocks } from '#src/operations/locks.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { type Answer, newDataDir, type Service, startService } from '#test/support/service.ts';

/** A service that is killed while it receives documents: nothing is lost, and leftovers are soon removed. */
describeAtFullSize('documents of a service that is killed', () => {
  let database: TestDatabase;
  let service: Service;
  let folder: string;
  let patient: string;
  const bytes = randomBytes(300_000);

  const v1 = (path: string, body: object): Promise<Answer> =>
    service.fhir(`${service.url}/v1${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    });
  const create = async (): Promise<string> => {
    const given = { title: 'Scan', content_type: 'application/octet-stream' };
    return String((await v1(`/patients/${patient}/documents`, given)).json.id);
  };
  const put = (url: string, id: string): Promise<Response> =>
    fetch(`${url}/v1/documents/${id}/content`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service.key}` },
      body: new Uint8Array(bytes),
    });
  const blobsOf = (id: string): Promise<string[]> => readdir(join(folder, patient, id)).catch(() => []);

  /**
   * Sends a document in chunks, as fast as the service accepts them.
   * @returns the status
   */
  const putMany = (id: string, chunk: Buffer, size: number): Promise<number> => {
    const { hostname, port } = new URL(service.url);
    const headers = { Authorization: `Bearer ${service.key}`, 'Content-Length': String(size) };
    const path = `/v1/documents/${id}/content`;
    const sent = httpRequest({ hostname, port, method: 'PUT', path, headers });
    const status = once(sent, 'response').then(([answer]: { statusCode: number; resume(): void }[]) => {
      answer?.resume();
      return answer?.statusCode ?? 0;
    });
    Readable.from(Array.from({ length: size / chunk.length }, () => chunk)).pipe(sent);
    return status;
  };
  const hashOf = async (id: string): Promise<string> => {
    const answer = await fetch(`${service.url}/v1/documents/${id}/content`, {
      headers: { Authorization: `Bearer ${service.key}` },
    });
    const hash = createHash('sha256');
    const body: AsyncIterable<Uint8Array> = Readable.fromWeb(answer.body as ReadableStream);
    for await (const part of body) hash.update(part);
    return hash.digest('hex');
  };

  before(async () => {
    database = await createMigratedDatabase();
    const dataDir = await newDataDir();
    folder = join(dataDir, 'documents');
    service = await startService({ databaseUrl: database.url, dataDir });
    patient = String((await v1('/patients', { family: 'Berg' })).json.id);
  });
  after(async () => {
    await service.stop();
    await database.drop();
  });

  it('of many megabytes at once pass through without being held, both ways', async () => {
    const AT_ONCE = 4;
    const chunk = randomBytes(1_000_000);
    const size = chunk.length * scaled(100, 16);
    const expected = createHash('sha256');
    for (let sent = 0; sent < size; sent += chunk.length) expected.update(chunk);
    const sha256 = expected.digest('hex');
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, create));
    const before = await residentBytes(service.pid);
    let most = before;
    const watch = setInterval(async () => {
      most = Math.max(most, await residentBytes(service.pid));
    }, 20);
    try {
      const answers = await Promise.all(ids.map((id) => putMany(id, chunk, size)));
      expect(answers).to.deep.equal(ids.map(() => 200));
      const read = await Promise.all(ids.map((id) => hashOf(id)));
      expect(read).to.deep.equal(ids.map(() => sha256));
    } finally {
      clearInterval(watch);
    }
    expect(most - before, 'bytes of memory').to.be.lessThan(50_000_000);
  });

  it('between bytes and event, and amid an upload: sent again they are taken, and what was left is swept', async () => {
    const [stored, broken] = [await create(), await create()];
    const dying = await startService({
      program: 'test/faults/dying-service.ts',
      databaseUrl: database.url,
      dataDir: service.dataDir,
      key: service.key,
      env: { DIES_BEFORE: 'record- 1' },
    });
    const { hostname, port } = new URL(dying.url);
    const half = httpRequest({
      hostname,
      port,
      method: 'PUT',
      path: `/v1/documents/${broken}/content`,
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Length': String(bytes.length) },
    }).on('error', () => undefined);
    half.write(bytes.subarray(0, 100_000));
    await eventually(async () => (await blobsOf(broken)).some((name) => name.endsWith('.part')));
    expect(await put(dying.url, stored).catch(() => 'died')).to.equal('died');
    half.destroy();
    await dying.stop();
    expect((await blobsOf(stored)).length, 'bytes without an event').to.equal(1);
    expect((await blobsOf(broken)).length, 'a part').to.equal(1);

    for (const id of [stored, broken]) {
      const content = await fetch(`${service.url}/v1/documents/${id}/content`, {
        headers: { Authorization: `Bearer ${service.key}` },
      });
      expect(content.status).to.equal(404);
      const answer = await put(service.url, id);
      expect(answer.status, await answer.text()).to.equal(200);
      expect(await blobsOf(id)).to.have.length(2);
    }

    const log = await openEventStore({ url: database.url, eventStoreUrl: EVENTSTORE_URL });
    const locks = new PostgresCriteriaLocks(database.pool);
    try {
      const sweep = (before: Date): Promise<number> =>
        sweepDocuments(
          { store: new DiskStore(folder), log, locks, findShown: openShownBlobs(database.pool) },
          before,
        );
      expect(await sweep(new Date(Date.now() - 60_000)), 'what is young stays').to.equal(0);
      expect(await sweep(new Date(Date.now() + 60_000))).to.equal(2);
      // If the read model doesn't list a document, the events decide.
      const shown = async () => new Set<never>();
      const store = new DiskStore(folder);
      expect(
        await sweepDocuments({ store, log, locks, findShown: shown }, new Date(Date.now() + 60_000)),
      ).to.equal(0);
    } finally {
      await log.close();
    }
    for (const id of [stored, broken]) {
      expect(await blobsOf(id)).to.have.length(1);
      const content = await fetch(`${service.url}/v1/documents/${id}/content`, {
        headers: { Authorization: `Bearer ${service.key}` },
      });
      const hash = createHash('sha256')
        .update(Buffer.from(await content.arrayBuffer()))
        .digest('hex');
      expect(hash).to.equal(createHash('sha256').update(bytes).digest('hex'));
    }
  });
});

/** Returns a process's resident memory in bytes; 0 if the system doesn't report it. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1_000;
}
