/**
 * PostgreSQL is lost but the log is intact: everything that can be derived from the log is rebuilt in a new database
 * (docs/backup.md).
 */
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';
import { createDatabase, createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { newDataDir, type Service, startService } from '#test/support/service.ts';

describeAtFullSize('a lost database whose log is whole', () => {
  let log: TestDatabase;
  let database: TestDatabase;
  let service: Service;
  before(async () => {
    // Instead of EventStoreDB, a log in another database is used.
    log = await createDatabase();
    database = await createMigratedDatabase();
    service = await startService({ databaseUrl: database.url, env: { EVENTSTORE_URL: log.url } });
  });
  after(async () => {
    await service.stop();
    await Promise.all([log, database].map((each) => each.drop()));
  });

  it('is replaced by an empty one: records, versions, keys and purges are as they were', async () => {
    const create = async (family: string): Promise<string> => {
      const body = JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
      const answer = await service.fhir('/Patient', { method: 'POST', body });
      expect(answer.status, answer.text).to.equal(201);
      return `/Patient/${answer.json.id}`;
    };
    const kept = await create('Kept');
    const purged = await create('Purged');
    const body = (await service.fhir(kept)).text;
    expect((await service.fhir(`${purged}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    const { key } = service;
    await service.stop();
    await database.drop();

    database = await createDatabase();
    const dataDir = await newDataDir();
    const env = { EVENTSTORE_URL: log.url };
    service = await startService({ dataDir, databaseUrl: database.url, env, key });
    expect((await service.fhir(kept)).text).to.equal(body);
    expect((await service.fhir(purged)).status).to.equal(404);
    expect((await service.fhir('/Patient?family=Kept')).json.total).to.equal(1);
    const verified = await runCommand(['verify', '--json'], {
      ...env,
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
    });
    expect(verified.code, verified.stdout + verified.stderr).to.equal(0);
    await create('Later');
  });
});
