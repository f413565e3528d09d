/** A log older than its read models, as after a restore: detected at startup and fixed by one command. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import pg from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { startEmbeddedPostgres } from '#src/database/embedded.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import {
  type Answer,
  annal,
  newDataDir,
  type Service,
  startedDataDir,
  startService,
} from '#test/support/service.ts';

const run = promisify(execFile);
/** These tests restore the log in PostgreSQL. */
const describeHere = EVENTSTORE_URL === '' ? describe : describe.skip;

/** Runs the given work on the database of a stopped service. */
async function onDatabase<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const server = await startEmbeddedPostgres({ dataDir });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
    await server.stop();
  }
}

interface Log {
  readonly events: readonly object[];
  readonly position: string;
}

/** Returns the log up to the first event of a type, where a backup could have ended. */
async function readLog(client: pg.Client, until: string): Promise<Log> {
  const { rows } = await client.query<Log>(
    `select json_agg(e order by position) as events, max(position)::text as position from log.events e
      where position <= (select max(position) from log.events where type = $1)`,
    [until],
  );
  return rows[0] ?? { events: [], position: '1' };
}

async function putLog(client: pg.Client, { events, position }: Log): Promise<void> {
  await client.query('begin; truncate log.events, log.erased');
  await client.query('insert into log.events select * from json_populate_recordset(null::log.events, $1)', [
    JSON.stringify(events),
  ]);
  await client.query("select setval('log.positions', $1)", [position]);
  await client.query('commit');
}

const observation = (patient: string, n: number) => ({
  resource: {
    resourceType: 'Observation',
    status: 'final',
    code: { text: `number ${n}` },
    subject: { reference: `Patient/${patient}` },
  },
  request: { method: 'POST', url: 'Observation' },
});

describeHere('a restored log that is older than the read models', () => {
  let dataDir: string;
  let backup: string;
  let service: Service;
  let patient: string;
  let lost: string;

  const post = (path: string, body: object, headers = {}): Promise<Answer> =>
    service.fhir(path, { method: 'POST', body: JSON.stringify(body), headers });
  const create = (family: string, key: string): Promise<Answer> =>
    post('/Patient', { resourceType: 'Patient', name: [{ family }] }, { 'Idempotency-Key': key });
  const rename = (family: string): Promise<Answer> => {
    const body = JSON.stringify({ resourceType: 'Patient', id: patient, name: [{ family }] });
    return service.fhir(`/Patient/${patient}`, { method: 'PUT', body });
  };
  /** Writes more events than the number that triggers a snapshot of the record. */
  const measure = (): Promise<Answer> => {
    const entry = Array.from({ length: 600 }, (_, n) => observation(patient, n));
    return post('', { resourceType: 'Bundle', type: 'transaction', entry });
  };

  before(async () => {
    dataDir = await startedDataDir();
    backup = await newDataDir();
    service = await startService({ dataDir });
    patient = String((await create('Before', 'before')).json.id);
    const organization = { resourceType: 'Organization', name: 'Carried' };
    const entry = [
      { resource: organization, request: { method: 'POST', url: 'Organization' } },
      observation(patient, 0),
    ];
    expect((await post('', { resourceType: 'Bundle', type: 'transaction', entry })).status).to.equal(200);
    await service.stop();
    await run('cp', ['-a', `${dataDir}/.`, backup]);

    service = await startService({ dataDir });
    expect((await rename('After')).version).to.equal(2);
    expect((await measure()).status).to.equal(200);
    lost = String((await create('Lost', 'lost')).json.id);
    await service.stop();
    // Simulates a backup taken between the record's append and the directory's.
    const older = await onDatabase(backup, (client) => readLog(client, 'DirectoryEntriesCarried'));
    await onDatabase(dataDir, async (client) => {
      const { rows } = await client.query('select from operations.snapshot where revision > 500');
      expect(rows, 'a snapshot of what is about to be lost').to.have.length(1);
      await putLog(client, older);
    });
  });

  after(() => service?.stop());

  itAtFullSize('serves, where the backup is put back whole', async () => {
    const restored = await startService({ dataDir: backup });
    try {
      const answer = await restored.fhir(`/Patient/${patient}`);
      expect(answer).to.include({ status: 200, version: 1 });
      expect(restored.key, 'the key of the backup').to.equal(service.key);
      const { code, output } = await annal(restored, ['verify']);
      expect(code, output).to.equal(0);
    } finally {
      await restored.stop();
    }
  });

  it('is refused at the start, with what happened and what to do', async () => {
    const refused = await startService({ dataDir }).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(refused).to.contain('Annal cannot start: the event log is shorter than what was derived from it');
    expect(refused).to.contain('resources, search, history').and.to.contain('`annal rebuild --restored`');
    expect(refused.trim().split('\n')).to.have.length(1);
  });

  it('is mended by a rebuild', async () => {
    const { code, json, output } = await annal({ dataDir }, ['rebuild', '--restored']);
    expect(code, output).to.equal(0);
    expect(json).to.have.length(PROJECTIONS.length);
    for (const report of Array.isArray(json) ? json : []) expect(report).to.include({ outcome: 'swapped' });
  });

  it('serves what it holds', async () => {
    service = await startService({ dataDir });
    const answer = await service.fhir(`/Patient/${patient}`);
    expect(answer.version).to.equal(1);
    expect(answer.text).to.contain('"Before"');
    expect((await service.fhir(`/Patient/${lost}`)).status).to.equal(404);
    // Work that the log's events started is done again.
    await eventually(async () => (await service.fhir('/Organization')).json.total === 1);
  });

  it('answers a repeated request from the log: what it has is not done twice, what it lost is done anew', async () => {
    const before = await create('Before', 'before');
    expect(before.headers.get('idempotent-replayed')).to.equal('true');
    expect(before.json.id).to.equal(patient);
    const again = await create('Lost', 'lost');
    expect(again.status).to.equal(201);
    expect(again.headers.get('idempotent-replayed')).to.equal(null);
    expect((await service.fhir(`/Patient/${String(again.json.id)}`)).status).to.equal(200);
  });

  itAtFullSize('takes writes where revisions, versions and positions are given out again', async () => {
    expect(await rename('Anew')).to.include({ status: 200, version: 2 });
    expect((await measure()).status).to.equal(200);
    expect(await rename('Once more')).to.include({ status: 200, version: 3 });
    const { json } = await service.fhir(`/Observation?patient=${patient}&_count=1`);
    expect(json.total).to.equal(601);
    const { code, output } = await annal(service, ['verify']);
    expect(code, output).to.equal(0);
  });

  itAtFullSize('is refused to no one whose newest events were erased', async () => {
    const newest = String((await create('Newest', 'newest')).json.id);
    await service.stop();
    await onDatabase(dataDir, (client) => client.query(`select log.erase_stream('record-${newest}')`));
    service = await startService({ dataDir });
    expect((await rename('Last')).status).to.equal(200);
  });

  it('is not mended under a service that runs', async () => {
    const { code, output } = await annal(service, ['rebuild', '--restored']);
    expect(code).to.equal(1);
    expect(output).to.contain('in use by another Annal service');
  });
});

describeHere('a log that is restored under a service that runs', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  it('makes it unready, and closed to writes until it is restarted', async () => {
    const patient = { resourceType: 'Patient' };
    await service.post('/Patient', patient);
    // Uses new connections, because each may reach a different process, which checks for itself.
    const headers = { connection: 'close' };
    const ready = () => service.fhir(`${service.url}/health/ready`, { headers });
    expect((await ready()).status).to.equal(200);
    const { rows } = await service.pool.query<{ at: number }>('select last_value as at from log.positions');
    await service.pool.query("select setval('log.positions', $1)", [(rows[0]?.at ?? 0) - 1]);
    const answer = await ready();
    expect(answer.status).to.equal(503);
    await eventually(async () =>
      (await Promise.all([ready(), ready()])).every(({ status }) => status === 503),
    );
    expect(answer.json.checks).to.include({ event_store: 'unavailable', database: 'ok' });

    const refused = await service.fhir('/Patient', { method: 'POST', body: JSON.stringify(patient) });
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    // Other instances may have written until the log is as long as it was before.
    await service.pool.query("select setval('log.positions', $1)", [(rows[0]?.at ?? 0) + 100]);
    for (const { status } of await Promise.all([ready(), ready()])) expect(status).to.equal(503);
    const said = 'the event log is shorter than what was derived';
    await service.logged(said);
    const told = service.log
      .filter((line) => line.includes(said))
      .map((line) => JSON.parse(line) as { level: unknown; worker?: string });
    for (const { level } of told) expect(level).to.be.oneOf([50, 'error']);
    expect(new Set(told.map(({ worker }) => worker)).size, 'each process says it once').to.equal(told.length);
  });
});
