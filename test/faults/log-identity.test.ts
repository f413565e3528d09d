/** The log's owner: an installation recognises its own log, whatever the settings say. */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { newDataDir, type Service, startService } from '#test/support/service.ts';
import { TEMPORARY } from '#test/support/temporary.ts';

describe('the log of an installation', () => {
  let database: TestDatabase;
  let log: TestDatabase;
  let stranger: TestDatabase;
  let dataDir: string;
  let service: Service;
  let patient: string;

  const start = (eventStoreUrl: string): Promise<Service> =>
    startService({ dataDir, databaseUrl: database.url, env: { EVENTSTORE_URL: eventStoreUrl } });
  const annal = async (command: readonly string[], eventStoreUrl = '') => {
    const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, EVENTSTORE_URL: eventStoreUrl };
    const { code, stdout, stderr } = await runCommand([...command, '--json'], env);
    return { code, output: stdout + stderr };
  };
  const refusal = (eventStoreUrl: string): Promise<string> =>
    start(eventStoreUrl).then(
      async (started) => {
        await started.stop();
        return 'it started';
      },
      (error: unknown) => String(error).trim(),
    );
  const rows = async (): Promise<unknown> =>
    (await database.pool.query('select count(*) from resources.resource')).rows;

  before(async () => {
    database = await createDatabase();
    log = await createDatabase();
    stranger = await createDatabase();
    dataDir = await newDataDir();
    // Instead of EventStoreDB, a log in another database is used.
    service = await start(log.url);
    const made = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Patient' }),
    });
    patient = String(made.json.id);
    const other = await startService({ databaseUrl: stranger.url, env: { EVENTSTORE_URL: '' } });
    // This log is longer, so its length doesn't reveal that it is the wrong one.
    await stranger.pool.query("select setval('log.positions', 100000)");
    await other.stop();
  });
  after(async () => {
    await service.stop();
    await Promise.all([database, log, stranger].map((each) => each.drop()));
  });

  const commands: readonly (readonly string[])[] = [
    ['verify'],
    ['rebuild', '--force'],
    ['scavenge'],
    ['checkpoint', '--out', join(tmpdir(), TEMPORARY + randomUUID())],
  ];
  for (const command of commands) {
    it(`is not taken for the empty one in its database: ${command[0]}`, async () => {
      const before = await rows();
      const { code, output } = await annal(command);
      expect(code, output).to.equal(1);
      expect(output).to.contain('a log that is empty').and.to.contain('Set EVENTSTORE_URL');
      expect(output.trim().split('\n'), output).to.have.length(1);
      expect(await rows()).to.deep.equal(before);
    });
  }

  itAtFullSize('is not taken for that of another installation', async () => {
    const { code, output } = await annal(['verify'], stranger.url);
    // This log looks the same as a log whose first event was altered.
    expect(code, output).to.equal(3);
    expect(output).to.contain('a log of another installation');
  });

  itAtFullSize('is found with the setting of the service', async () => {
    const { code, output } = await annal(['verify'], log.url);
    expect(code, output).to.equal(0);
    const rebuilt = await annal(['rebuild', 'resources'], log.url);
    expect(rebuilt.code, rebuilt.output).to.equal(0);
    expect((await service.fhir(`/Patient/${patient}`)).status).to.equal(200);
  });

  it('is not moved away from where it is not', async () => {
    const { code, output } = await annal(['migrate-log', '--to', stranger.url]);
    expect(code, output).to.equal(1);
    expect(output).to.contain('a log that is empty');
  });

  itAtFullSize('is required at the start', async () => {
    await service.stop();
    expect(await refusal(''))
      .to.contain('Annal cannot start: ')
      .and.to.contain('a log that is empty');
    const text = await refusal(stranger.url);
    expect(text).to.contain('a log of another installation');
    expect(text.split('\n')).to.have.length(1);
    service = await start(log.url);
    expect((await service.fhir(`/Patient/${patient}`)).status).to.equal(200);
  });

  itAtFullSize('is of one kind, until it is moved', async () => {
    await service.stop();
    await database.pool.query("update operations.log_identity set kind = 'eventstoredb'");
    expect(await refusal(log.url)).to.contain(
      'are in EventStoreDB, but the settings name a log in PostgreSQL',
    );
    await database.pool.query("update operations.log_identity set kind = 'postgresql'");
    service = await start(log.url);
  });
});
