/** `annal migrate-log` between PostgreSQL and two EventStoreDB servers. EVENTSTORE_START starts the servers. */
import { expect } from 'chai';
import { openEventStore } from '#src/events/open.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { type EventStoreServer, STARTABLE, startEventStoreDb } from '#test/support/event-store-servers.ts';
import { eventually, startProgram } from '#test/support/process.ts';
import { type Answer, newDataDir, type Service, startService } from '#test/support/service.ts';

(STARTABLE ? describe : describe.skip)('annal migrate-log with EventStoreDB (EVENTSTORE_START)', () => {
  let first: EventStoreServer;
  let second: EventStoreServer;
  let database: TestDatabase;
  let dataDir: string;
  let service: Service | undefined;
  let patients = 0;

  const start = async (eventStoreUrl: string): Promise<void> => {
    service = await startService({
      dataDir,
      databaseUrl: database.url,
      env: { EVENTSTORE_URL: eventStoreUrl },
    });
  };
  const stop = async (): Promise<void> => service?.stop();
  const refusal = (eventStoreUrl: string): Promise<string> =>
    start(eventStoreUrl).then(() => 'it started', String);
  const fhir = async (...args: Parameters<Service['fhir']>): Promise<Answer> => {
    if (service === undefined) throw new Error('no service runs');
    return service.fhir(...args);
  };
  const run = async (args: readonly string[], eventStoreUrl: string) => {
    const program = startProgram(process.execPath, ['bin/annal.js', ...args, '--json'], {
      DATABASE_URL: database.url,
      EVENTSTORE_URL: eventStoreUrl,
      DATA_DIR: dataDir,
    });
    return { code: await program.ended, output: program.stdout() + program.stderr() };
  };
  const annal = async (args: readonly string[], eventStoreUrl: string): Promise<string> => {
    const { code, output } = await run(args, eventStoreUrl);
    expect(code, output).to.equal(0);
    return output;
  };
  const move = (from: string, to: string): Promise<string> =>
    annal(['migrate-log', '--from', from, '--to', to, '--cutover'], from === 'database' ? '' : from);
  const newPatient = async (family: string): Promise<string> => {
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
    const answer = await fhir('/Patient', { method: 'POST', body, headers: { 'Idempotency-Key': family } });
    expect(answer.status, answer.text).to.equal(201);
    patients += 1;
    return String(answer.json.id);
  };
  const total = async (): Promise<unknown> => (await fhir('/Patient?_count=1')).json.total;
  const mark = async () =>
    (await database.pool.query('select event_id, stream, revision, position from operations.log_mark'))
      .rows[0];

  before(async () => {
    [first, second] = await Promise.all([startEventStoreDb(), startEventStoreDb()]);
    database = await createDatabase();
    dataDir = await newDataDir();
    await start('');
  });
  after(async () => {
    await stop();
    await Promise.all([first?.stop(), second?.stop()]);
    await database?.drop();
  });

  it('moves the service there; nobody begins on half a copy', async () => {
    const purged = await newPatient('Purged');
    const kept = await newPatient('Kept');
    expect((await fhir(`/Patient/${purged}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    patients -= 1;
    await annal(['migrate-log', '--to', first.url], '');
    await newPatient('Later');
    await stop();
    const opened = await openEventStore({ url: '', eventStoreUrl: first.url }).then(() => 'open', String);
    expect(opened).to.contain('the event log named by the settings is closed');
    expect(await move('database', first.url)).to.contain('"outcome": "moved"');
    await start(first.url);
    expect((await fhir(`/Patient/${purged}`)).status).to.equal(404);
    expect(await newPatient('Kept'), 'answered before the move').to.equal(kept);
    patients -= 1;
    await newPatient('There');
    expect(await total()).to.equal(patients);
    await annal(['verify'], first.url);
  });

  it('to another EventStoreDB: an instance that still runs on the old one stops', async () => {
    await stop();
    const clone = await createDatabase();
    const stray = await startService({ databaseUrl: clone.url, env: { EVENTSTORE_URL: first.url } });
    try {
      await move(first.url, second.url);
      await eventually(() => stray.log().includes('the event log was moved; this instance stops'));
      await eventually(() => !isRunning(stray.pid));
    } finally {
      await stray.stop();
      await clone.drop();
    }
  });

  it('and no start and no command uses the old one', async () => {
    expect(await refusal(first.url)).to.contain(`has moved it to ${second.url}`);
    const { code, output } = await run(['verify'], first.url);
    expect(code, output).to.equal(1);
    expect(output).to.contain('the event log named by the settings is closed');
  });

  it('and the noted event is found at its place in the new log', async () => {
    const { event_id, stream, revision, position } = await mark();
    const store = await openEventStore({ url: '', eventStoreUrl: second.url });
    try {
      for await (const event of store.read(stream, { from: revision, limit: 1 }))
        expect(event).to.include({ id: event_id, position });
    } finally {
      await store.close();
    }
    await start(second.url);
    await newPatient('Elsewhere');
    expect(await total()).to.equal(patients);
    await stop();
    expect((await mark()).event_id).to.not.equal(event_id);
    // The commands also work while the service is stopped.
    await annal(['verify'], second.url);
  });

  it('by PostgreSQL back to the first: only that one takes the service', async () => {
    await move(second.url, 'database');
    expect(await refusal(second.url)).to.contain('has moved it to database');
    await start('');
    await newPatient('Between');
    await stop();
    await move('database', first.url);
    expect(await refusal(second.url)).to.contain('has moved it to database');
    expect(await refusal('')).to.contain('the event log named by the settings is closed');
    await start(first.url);
    expect(await total()).to.equal(patients);
    await newPatient('Back');
    expect(await total()).to.equal(patients);
    await stop();
    await annal(['verify'], first.url);
  });

  it('opens the log again when a cutover is given up', async () => {
    await start(first.url);
    const cutover = startProgram(
      process.execPath,
      ['bin/annal.js', 'migrate-log', '--from', first.url, '--to', second.url, '--cutover', '--json'],
      { DATABASE_URL: database.url, EVENTSTORE_URL: first.url, DATA_DIR: dataDir },
    );
    await eventually(() => cutover.stderr().includes('stop every instance'));
    cutover.child.kill('SIGKILL');
    await cutover.ended;
    await newPatient('During');
    await stop();
    const store = await openEventStore({ url: '', eventStoreUrl: first.url });
    await store.close();
    await annal(['migrate-log', '--from', first.url, '--to', second.url, '--cancel'], first.url);
    await start(first.url);
    expect(await total()).to.equal(patients);
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
