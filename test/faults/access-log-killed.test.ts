/** The access log while the service is killed: every answer that an application received is in it, and its chains hold. */
import { expect } from 'chai';
import { purgesIn } from '#src/cli/access-check.ts';
import { openPool } from '#src/database/pool.ts';
import { openEventStore } from '#src/events/open.ts';
import { AccessLogCheck } from '#src/operations/access-log/check.ts';
import { signIn } from '#test/support/admin.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { scaled } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

const KILLS = scaled(30, 2);
const READERS = scaled(64, 16);
const RECORDS = 4;
/** Answers between two kills. */
const ANSWERS = 5 * READERS;

describe('the access log, while the service is killed', () => {
  let database: TestDatabase;
  let folders: string[];
  let services: Service[];
  let granting: Granting;
  let allowed: Allowed[];

  const start = (instance: number): Promise<Service> =>
    startService({ databaseUrl: database.url, dataDir: folders[instance] ?? '' });

  before(async () => {
    database = await createMigratedDatabase();
    folders = [await temporaryFolder(), await temporaryFolder()];
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
      allowed.push(await granting.allow(application, String(json.id)));
    }
  });
  after(async () => {
    await granting?.close();
    for (const service of services ?? []) await service.stop();
    await database?.drop();
    await removeTemporaryFolders();
  });

  /** Reads without pause until it is told to stop; notes the request of every whole answer. */
  function readers(count: number, of: readonly Allowed[]) {
    const received: string[] = [];
    const statuses = new Set<number>();
    let reading = true;
    const one = async (n: number): Promise<void> => {
      for (let turn = n; reading; turn += 1) {
        const { url } = services[turn % services.length] ?? { url: '' };
        const grant = of[turn % of.length];
        const path = turn % 3 === 0 ? `/Patient/${grant?.patient}` : '/Patient';
        try {
          const headers = { Authorization: `Bearer ${grant?.token}` };
          const answer = await fetch(`${url}/fhir/R4${path}`, { headers });
          await answer.arrayBuffer();
          statuses.add(answer.status);
          if (answer.status === 200) received.push(answer.headers.get('service-request-id') ?? '');
        } catch {
          // The instance was killed, or isn't there.
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
    const { received, stop } = readers(READERS, allowed);
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
    expect(new Set(received).size).to.equal(received.length);
    expect(received.length).to.be.at.least(ANSWERS * (KILLS + 1));
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
    for (const status of statuses) expect(status).to.be.oneOf([200, 401, 404, 410, 503]);
    const left = async (record: string) =>
      (await database.pool.query('select from operations.access_entry where record = $1', [record])).rowCount;
    expect(await left(gone.record)).to.equal(0);
    for (const { record } of others) expect(await left(record)).to.be.greaterThan(0);
    expect(await faults()).to.deep.equal([]);
  });
});
