/** `annal migrate-log` with a running service: nothing is lost, nothing is done twice, and the service can move back. */
import { expect } from 'chai';
import { PROJECTIONS } from '#projections/all.ts';
import { closeLog, isClosed } from '#src/events/postgres/closing.ts';
import { POSITION_COLUMNS } from '#src/migrate-log/positions.ts';
import { createDatabase, createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually, type Program, startProgram } from '#test/support/process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { type Answer, newDataDir, type Service, startService } from '#test/support/service.ts';

describe('annal migrate-log', () => {
  it('knows every column that holds a position', async () => {
    const database = await createMigratedDatabase();
    const { rows: columns } = await database.pool.query<{ name: string }>(
      `select table_schema || '.' || table_name || '.' || column_name as name from information_schema.columns
        where column_name ~ 'position' and data_type = 'text' and table_schema not in ('log', 'pg_catalog', 'information_schema')`,
    );
    await database.drop();
    const checkpoints = PROJECTIONS.map(({ name }) => `${name}.checkpoint.position`);
    expect(columns.map(({ name }) => name)).to.have.members([...checkpoints, ...POSITION_COLUMNS]);
  });
});

describeAtFullSize('annal migrate-log while the service runs', () => {
  let database: TestDatabase;
  let other: TestDatabase;
  let dataDir: string;
  let service: Service;
  let patient: string;
  let purged: string;

  const start = (eventStoreUrl = ''): Promise<Service> =>
    startService({ dataDir, databaseUrl: database.url, env: { EVENTSTORE_URL: eventStoreUrl } });
  const command = (...args: string[]): Program =>
    startProgram(process.execPath, ['bin/annal.js', ...args, '--json'], {
      DATABASE_URL: database.url,
      DATA_DIR: dataDir,
    });
  const migrate = async (...args: string[]): Promise<{ code: number | string; text: string }> => {
    const program = command('migrate-log', ...args);
    return { code: await program.ended, text: program.stdout() + program.stderr() };
  };
  const post = (body: object, key: string): Promise<Answer> =>
    service.fhir('', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Idempotency-Key': key },
    });
  const visit = (family: string): object => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      {
        fullUrl: 'urn:uuid:7b0c4d3e-0f7e-4b0e-9a5e-1f4dbe1f0001',
        resource: { resourceType: 'Patient', name: [{ family }] },
        request: { method: 'POST', url: 'Patient' },
      },
      {
        resource: { resourceType: 'Organization', name: `of ${family}` },
        request: { method: 'POST', url: 'Organization' },
      },
      ...Array.from({ length: 20 }, (_, n) => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: `number ${n}` },
          subject: { reference: 'urn:uuid:7b0c4d3e-0f7e-4b0e-9a5e-1f4dbe1f0001' },
        },
        request: { method: 'POST', url: 'Observation' },
      })),
    ],
  });
  const newPatient = async (family: string): Promise<string> => {
    const answer = await post(visit(family), family);
    expect(answer.status, answer.text).to.equal(200);
    return /Patient\/([0-9a-f-]{36})/.exec(answer.text)?.[1] ?? '';
  };
  const totals = async (): Promise<unknown[]> =>
    Promise.all(
      ['Patient', 'Observation', 'Organization'].map(
        async (type) => (await service.fhir(`/${type}?_count=1`)).json.total,
      ),
    );
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  const events = async ({ pool }: TestDatabase) =>
    (await pool.query('select stream, revision, id, type, data, metadata from log.events order by position'))
      .rows;

  before(async () => {
    database = await createDatabase();
    other = await createDatabase();
    dataDir = await newDataDir();
    service = await start();
    // Positions in the first log are ahead of those that the second log assigns.
    await query("select setval('log.positions', 5000)");
    patient = await newPatient('Kept');
    purged = await newPatient('Purged');
    expect((await service.fhir(`/Patient/${purged}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
  });
  after(async () => {
    await service.stop();
    await database.drop();
    await other.drop();
  });

  it('copies while the service runs, and goes on from where it was killed', async () => {
    const killed = command('migrate-log', '--to', other.url);
    await eventually(() => isClosed(other.url).catch(() => false));
    killed.child.kill('SIGKILL');
    await killed.ended;
    await newPatient('Meanwhile');
    const { code, text } = await migrate('--to', other.url);
    expect(code, text).to.equal(0);
    expect(text).to.contain('"outcome": "copied"');
    expect(await events(other)).to.deep.equal(await events(database));
    // The service doesn't start on an incompletely copied log.
    await startService({ databaseUrl: database.url, env: { EVENTSTORE_URL: other.url } }).then(
      async (started) => {
        await started.stop();
        expect.fail('it started');
      },
      (error: unknown) => expect(String(error)).to.contain('the event log named by the settings is closed'),
    );
  });

  it('takes the wrong direction for what it is', async () => {
    const { code, text } = await migrate('--from', other.url, '--to', 'database');
    expect(code).to.equal(1);
    expect(text).to.contain("the service's log is in database; pass that as --from");
    expect(await isClosed(database.url)).to.equal(false);
  });

  it('opens the log again when a cutover is given up', async () => {
    const cutover = command('migrate-log', '--to', other.url, '--cutover');
    await eventually(() => cutover.stderr().includes('stop every instance'));
    const refused = await post(visit('Refused'), 'refused');
    expect(refused.status).to.equal(503);
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    expect((await service.fhir(`/Patient/${patient}`)).status, 'reads go on').to.equal(200);
    cutover.child.kill('SIGINT');
    expect(await cutover.ended).to.equal(1);
    expect((await post(visit('Refused'), 'refused')).status).to.equal(200);
  });

  it('moves the service, while writers go on and repeat what was refused', async () => {
    const before = await totals();
    // The event is parked for a process that no instance runs, so it isn't retried in the meantime.
    await query(
      `insert into operations.parked (process, stream, revision, position, event_id, error, attempts, retry_at)
       select 'asleep', stream, revision, position::text, id, 'x', 6, now() + interval '1 day'
         from log.events where type = 'DirectoryEntriesCarried' order by position limit 1`,
    );
    const cutover = command('migrate-log', '--to', other.url, '--cutover');
    let written = 0;
    let refused = 0;
    let pending = '';
    while (!cutover.stderr().includes('stop every instance') || refused === 0) {
      pending = `writer-${written}`;
      const { status } = await post(visit(pending), pending);
      if (status === 200) written += 1;
      else {
        expect(status).to.equal(503);
        refused += 1;
      }
    }
    await service.stop();
    expect(await cutover.ended, cutover.stderr()).to.equal(0);
    expect(cutover.stdout()).to.contain('"outcome": "moved"');
    const parked = await query('select stream, revision, position from operations.parked');
    const { rows: there } = await other.pool.query(
      `select stream, revision, lpad(position::text, 16, '0') as position from log.events
        where type = 'DirectoryEntriesCarried' order by log.events.position limit 1`,
    );
    expect(parked).to.deep.equal(there);
    // A process may not have recorded its progress in the last second, but the read models contain everything that was
    // written.
    const [followers] = await query(
      'select r.position as resources, h.position as history from resources.checkpoint r, history.checkpoint h',
    );
    const processes = await query('select position::int8 as position from operations.process');
    for (const { position } of processes) {
      expect(await other.pool.query('select from log.events where position = $1', [position])).to.include({
        rowCount: 1,
      });
    }
    const { rows: ends } = await other.pool.query(
      "select lpad(max(position)::text, 16, '0') as head from log.events",
    );
    expect(followers).to.deep.equal({ resources: ends[0]?.head, history: ends[0]?.head });

    // The newest event that was processed is looked up at its position in the new log.
    const [mark] = await query('select event_id, position::int8 as position from operations.log_mark');
    expect(
      (await other.pool.query('select id from log.events where position = $1', [mark?.position])).rows,
    ).to.deep.equal([{ id: mark?.event_id }]);

    service = await start(other.url);
    expect((await post(visit(pending), pending)).status).to.equal(200);
    const first = await post(visit('Kept'), 'Kept');
    expect(first.headers.get('idempotent-replayed'), 'answered before the move').to.equal('true');
    const [patients, observations, organizations] = before.map(Number);
    const more = written + 1;
    expect(await totals()).to.deep.equal([
      (patients ?? 0) + more,
      (observations ?? 0) + more * 20,
      (organizations ?? 0) + more,
    ]);
  });

  it('has every follower go on there', async () => {
    const head = Number(
      (await other.pool.query('select max(position) as head from log.events')).rows[0]?.head,
    );
    expect(head).to.be.below(5_000);
    for (const { name } of PROJECTIONS) {
      await eventually(
        async () => Number((await query(`select position from ${name}.checkpoint`))[0].position) === head,
      );
    }
    const verified = command('verify');
    expect(await verified.ended, verified.stdout()).to.not.equal(0);
    expect(verified.stderr(), 'the old log is closed').to.contain('closed');
    expect(verified.stderr().trim().split('\n')).to.have.length(1);
  });

  it('ends what was killed right before its end', async () => {
    await closeLog(other.url);
    const { code, text } = await migrate('--to', other.url, '--cutover');
    expect(code, text).to.equal(0);
    expect(await isClosed(other.url)).to.equal(false);
    expect(text).to.contain('"outcome": "already_moved"');
    await newPatient('Open');
  });

  it('refuses a start on the log that was left', async () => {
    const text = await startService({ databaseUrl: database.url }).then(
      () => 'it started',
      (error: unknown) => String(error),
    );
    expect(text).to.contain('Annal cannot start: the event log named by the settings is closed');
  });

  it('carries erasures over', async () => {
    expect(
      await other.pool.query('select from log.erased where stream = $1', [`record-${purged}`]),
    ).to.include({
      rowCount: 1,
    });
    expect((await service.fhir(`/Patient/${purged}`)).status).to.equal(404);
  });

  it('goes back, with what was written since', async () => {
    const since = await newPatient('Since');
    const before = await totals();
    await service.stop();
    const { code, text } = await migrate('--from', other.url, '--to', 'database', '--cutover');
    expect(code, text).to.equal(0);
    service = await start();
    expect((await service.fhir(`/Patient/${since}`)).status).to.equal(200);
    expect(await totals()).to.deep.equal(before);
    expect(await events(database)).to.deep.equal(await events(other));
    await newPatient('Back');
    const verified = command('verify');
    expect(await verified.ended, verified.stdout() + verified.stderr()).to.equal(0);
  });
});
