/** `annal migrate-log` to EventStoreDB and back. EVENTSTORE_URL names a server whose log is empty. */
import { expect } from 'chai';
import { openEventStore } from '#src/events/open.ts';
import { BEGINNING } from '#src/events/store.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startProgram } from '#test/support/process.ts';
import { type Answer, newDataDir, type Service, startService } from '#test/support/service.ts';

const url = process.env.EVENTSTORE_URL ?? '';

describe('annal migrate-log to EventStoreDB', () => {
  let database: TestDatabase;
  let dataDir: string;
  let service: Service | undefined;

  const start = async (eventStoreUrl: string): Promise<void> => {
    service = await startService({
      dataDir,
      databaseUrl: database.url,
      env: { EVENTSTORE_URL: eventStoreUrl },
    });
  };
  const stop = async (): Promise<void> => service?.stop();
  const fhir = async (...args: Parameters<Service['fhir']>): Promise<Answer> => {
    if (service === undefined) throw new Error('no service runs');
    return service.fhir(...args);
  };
  const annal = async (args: readonly string[], eventStoreUrl: string): Promise<string> => {
    const program = startProgram(process.execPath, ['bin/annal.js', ...args, '--json'], {
      DATABASE_URL: database.url,
      EVENTSTORE_URL: eventStoreUrl,
      DATA_DIR: dataDir,
    });
    expect(await program.ended, program.stdout() + program.stderr()).to.equal(0);
    return program.stdout();
  };
  const newPatient = async (family: string): Promise<string> => {
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
    const answer = await fhir('/Patient', { method: 'POST', body, headers: { 'Idempotency-Key': family } });
    expect(answer.status, answer.text).to.equal(201);
    return String(answer.json.id);
  };
  const total = async (): Promise<unknown> => (await fhir('/Patient?_count=1')).json.total;

  before(async function () {
    if (url === '') this.skip();
    const there = await openEventStore({ url: '', eventStoreUrl: url });
    const empty = (await there.head()) === BEGINNING;
    await there.close();
    if (!empty) this.skip();
    database = await createDatabase();
    dataDir = await newDataDir();
    await start('');
  });
  after(async () => {
    await stop();
    await database?.drop();
  });

  it('moves the service there', async () => {
    const purged = await newPatient('Purged');
    const kept = await newPatient('Kept');
    expect((await fhir(`/Patient/${purged}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    await annal(['migrate-log', '--to', url], '');
    await newPatient('Later');
    await stop();
    expect(await annal(['migrate-log', '--to', url, '--cutover'], '')).to.contain('"outcome": "moved"');
    await start(url);
    expect((await fhir(`/Patient/${purged}`)).status).to.equal(404);
    expect(await newPatient('Kept'), 'answered before the move').to.equal(kept);
    await newPatient('There');
    expect(await total()).to.equal(3);
    await annal(['verify'], url);
  });

  it('and back, and nobody begins on what was left', async () => {
    await stop();
    await annal(['migrate-log', '--from', url, '--to', 'database', '--cutover'], url);
    const refused = await start(url).then(() => 'it started', String);
    expect(refused).to.contain('has moved it to database');
    await start('');
    expect(await total()).to.equal(3);
    await newPatient('Back');
    expect(await total()).to.equal(4);
    await annal(['verify'], '');
  });
});
