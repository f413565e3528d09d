/**
 * The access log while the service is killed. It contains every answer that an application received, and its chains stay
 * intact.
 */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { z } from 'zod';
import { purgesIn } from '#src/cli/verify/access-check.ts';
import { openPool } from '#src/database/pool.ts';
import { openEventStore } from '#src/events/open.ts';
import { AccessLogCheck } from '#src/operations/access-log/check.ts';
import { signIn } from '#test/support/admin.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const KILLS = scaled(30, 1);
const READERS = scaled(64, 8);
const RECORDS = 4;
/** Number of answers between two kills. */
const ANSWERS = 5 * READERS;

/** A granted record with a document. */
interface Readable extends Allowed {
  readonly document: string;
}

/** A request from an application. */
interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The expected status. */
  readonly expected?: number;
}

describeAtFullSize('the access log, while the service is killed', () => {
  let database: TestDatabase;
  let folders: string[];
  let services: Service[];
  let granting: Granting;
  let allowed: Readable[];

  const start = (instance: number): Promise<Service> =>
    startService({ databaseUrl: database.url, dataDir: folders[instance] ?? '' });

  before(async () => {
    database = await createMigratedDatabase();
    folders = [await temporaryFolder(), await temporaryFolder()];
    // Several instances share the document store.
    const documents = await temporaryFolder();
    for (const folder of folders) await symlink(documents, join(folder, 'documents'));
    services = [await start(0), await start(1)];
    const [first] = services;
    if (first === undefined) throw new Error('no service');
    granting = await Granting.open({ pool: database.pool, databaseUrl: database.url });
    const owner = await signIn({ url: first.url, pool: database.pool }, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id);
    allowed = [];
    for (let n = 0; n < RECORDS; n += 1) {
      const { json } = await first.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' });
      const record = String(json.id);
      const document = await filled(first, record);
      allowed.push({ ...(await granting.allow(application, record)), document });
    }
  });
  after(async () => {
    await granting?.close();
    for (const service of services ?? []) await service.stop();
    await database?.drop();
    await removeTemporaryFolders();
  });

  /** Returns the n-th request. The requests cover reads, searches, bytes, HEAD and 304 on both interfaces. */
  function asked(n: number, grant: Readable | undefined): Asked {
    const { patient = '', document = '' } = grant ?? {};
    const all: readonly Asked[] = [
      { path: `/fhir/R4/Patient/${patient}` },
      { path: '/fhir/R4/Observation?_total=accurate' },
      { path: `/v1/patients/${patient}/observations` },
      { path: `/v1/documents/${document}/content` },
      { path: `/v1/documents/${document}/content`, headers: { Range: 'bytes=0-3' }, expected: 206 },
      { path: `/fhir/R4/Patient/${patient}`, method: 'HEAD' },
      { path: `/fhir/R4/Patient/${patient}`, headers: { 'If-None-Match': 'W/"1"' }, expected: 304 },
      { path: `/v1/patients/${patient}/timeline` },
    ];
    return all[n % all.length] ?? { path: '' };
  }

  /** Reads continuously until it is stopped, and records the request id of every complete answer. */
  function readers(count: number, of: readonly Readable[]) {
    const received: string[] = [];
    const statuses = new Map<number, string>();
    let reading = true;
    const one = async (n: number): Promise<void> => {
      for (let turn = n; reading; turn += 1) {
        const { url } = services[turn % services.length] ?? { url: '' };
        const grant = of[turn % of.length];
        const { path, method = 'GET', headers = {}, expected = 200 } = asked(turn, grant);
        try {
          const answer = await fetch(`${url}${path}`, {
            method,
            headers: { Authorization: `Bearer ${grant?.token}`, ...headers },
          });
          const text = await answer.text();
          if (!statuses.has(answer.status)) statuses.set(answer.status, `${method} ${path}: ${text}`);
          if (answer.status === expected) received.push(answer.headers.get('service-request-id') ?? '');
        } catch {
          // The instance was killed, or isn't running.
        }
      }
    };
    const all = Promise.all(Array.from({ length: count }, (_, n) => one(n)));
    const stop = async (): Promise<void> => {
      reading = false;
      await all;
    };
    return { received, statuses, stop };
  }

  /** Sends a request once. */
  async function answerOf(grant: Readable | undefined, n: number): Promise<{ status: number; text: string }> {
    const { path, method = 'GET', headers = {} } = asked(n, grant);
    const { url } = services[n % services.length] ?? { url: '' };
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${grant?.token}`, ...headers },
    });
    return { status: answer.status, text: await answer.text() };
  }

  const statusOf = async (grant: Readable, n: number): Promise<number> => (await answerOf(grant, n)).status;

  /**
   * Adds an Observation and a document with its bytes.
   * @returns the document's id
   */
  async function filled(service: Service, record: string): Promise<string> {
    const send = async (method: string, path: string, body: string, type = 'application/json') => {
      const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': type };
      const answer = await fetch(`${service.url}/v1${path}`, { method, headers, body });
      expect(answer.ok, await answer.clone().text()).to.equal(true);
      return z.object({ id: z.string() }).parse(await answer.json()).id;
    };
    const observation = { code: '4548-4', category: 'laboratory', effective_at: '2026-01-01T08:00:00Z' };
    const result = JSON.stringify({ ...observation, value: 7.1, unit: '%' });
    await send('POST', `/patients/${record}/observations`, result);
    const letter = JSON.stringify({ title: 'Letter', content_type: 'text/plain' });
    const document = await send('POST', `/patients/${record}/documents`, letter);
    return send('PUT', `/documents/${document}/content`, 'Dear all', 'text/plain');
  }

  async function faults(): Promise<unknown> {
    const pool = openPool(database.url, { max: 1, name: 'test access log' });
    const session = await pool.connect();
    const store = await openEventStore({ url: database.url, eventStoreUrl: EVENTSTORE_URL });
    try {
      const check = new AccessLogCheck(session, 100);
      await check.begin();
      return (await check.end(purgesIn(store))).faults;
    } finally {
      session.release(true);
      await Promise.all([pool.end(), store.close()]);
    }
  }

  it(`has every answer that ${READERS} readers received over ${KILLS} kills of two instances`, async () => {
    const { received, statuses, stop } = readers(READERS, allowed);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = received.length;
        await eventually(async () => received.length >= before + ANSWERS, 60_000);
        const instance = kill % 2;
        await services[instance]?.kill();
        services[instance] = await start(instance);
      }
      const before = received.length;
      await eventually(async () => received.length >= before + ANSWERS, 60_000);
    } finally {
      await stop();
    }
    const { rows } = await database.pool.query<{ missing: string }>(
      `select r.id as missing from unnest($1::text[]) as r(id)
        where not exists (select from operations.access_entry e where e.request_id = r.id and e.status = 'ok')`,
      [received],
    );
    expect(rows).to.deep.equal([]);
    for (const [status, text] of statuses) expect(status, text).to.be.oneOf([200, 206, 304, 503]);
    expect(new Set(received).size).to.equal(received.length);
    expect(received.length).to.be.at.least(ANSWERS * (KILLS + 1));
    expect(await faults()).to.deep.equal([]);
  });

  it('lets nothing out while the database can’t be written', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const entries = async () =>
      Number((await database.pool.query('select count(*) as n from operations.access_entry')).rows[0].n);
    /** Only new sessions get the setting, so all sessions except this one are ended. */
    const readOnly = async (value: string) => {
      await database.pool.query(
        `begin read write; alter database ${name} set default_transaction_read_only = ${value}; commit`,
      );
      await database.pool.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()',
        [name],
      );
    };
    const { received, stop } = readers(READERS, allowed);
    try {
      await eventually(async () => received.length >= READERS);
      await readOnly('on');
      await eventually(async () => {
        const statuses = await Promise.all(allowed.map((grant, n) => statusOf(grant, n)));
        return statuses.every((status) => status === 503);
      }, 60_000);
      const [known, sent] = [await entries(), received.length];
      // Sends each kind of request to both instances, as many as there are readers.
      for (let n = 0; n < 2 * READERS; n += 1) {
        const answer = await answerOf(allowed[n % allowed.length], n);
        expect(answer.status, answer.text).to.equal(503);
        expect(answer.text).not.to.match(/Dear|4548-4|Patient"/);
      }
      expect([await entries(), received.length]).to.deep.equal([known, sent]);
    } finally {
      await readOnly('off');
      const before = received.length;
      await eventually(async () => received.length >= before + READERS, 60_000);
      await stop();
    }
    expect(await faults()).to.deep.equal([]);
  });

  it('is gone with a record that is purged while it is read', async () => {
    const [gone, ...others] = allowed;
    if (gone === undefined) throw new Error('no record');
    const { received, statuses, stop } = readers(8, [gone]);
    try {
      await eventually(async () => received.length >= 20);
      await eventually(async () => {
        const purged = await services[0]?.fhir(`/Patient/${gone.record}?_purge=true`, { method: 'DELETE' });
        return purged?.status === 204;
      });
      await eventually(async () => statuses.has(401));
    } finally {
      await stop();
    }
    for (const [status, text] of statuses)
      expect(status, text).to.be.oneOf([200, 206, 304, 401, 404, 410, 503]);
    const left = async (record: string) =>
      (await database.pool.query('select from operations.access_entry where record = $1', [record])).rowCount;
    expect(await left(gone.record)).to.equal(0);
    for (const { record } of others) expect(await left(record)).to.be.greaterThan(0);
    expect(await faults()).to.deep.equal([]);
  });
});
