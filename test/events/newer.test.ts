/**
 * Events that newer software wrote, read by an instance that doesn't know them. The instance stops, reports the reason, and
 * lets other instances continue.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { rebuild } from '#projections/rebuild/rebuild.ts';
import { verify } from '#projections/verify/verify.ts';
import { hintsFor } from '#src/cli/verify/verify-hints.ts';
import { understand } from '#src/events/codec.ts';
import { NewerEvent, NewerEvents } from '#src/events/newer.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { BEGINNING, type EventStore, type NewEvent, type RecordedEvent } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { describeStopped } from '#src/freshness/freshness.ts';
import { readinessChecks } from '#src/freshness/readiness.ts';
import { Process } from '#src/processes/process.ts';
import { newUuid } from '#src/shared/ids.ts';
import { type Instance, startInstance } from '#test/projections/instance.ts';
import { created, made, Streams, TENANT, until } from '#test/projections/made.ts';
import { bundledProgram } from '#test/support/bundled-program.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { HERE, type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { NEWER_VERSION } from './newer-software.ts';

const UPGRADE = 'upgrade this instance';

/** Version 2 of `ProjectDeleted`. */
const newer = (): NewEvent =>
  made({ type: 'ProjectDeleted', data: { project_id: TENANT.project } }, { schema_version: NEWER_VERSION });
/** A type that isn't in the catalogue. */
const unknown = (): NewEvent => ({ ...newer(), type: 'ProjectRenamed' });

describe('events of a newer version', () => {
  let database: TestDatabase;
  const running: Instance[] = [];
  const children: ChildProcess[] = [];
  const processes: Process[] = [];

  beforeEach(async () => {
    database = await createMigratedDatabase();
  });
  afterEach(async () => {
    for (const process of processes.splice(0)) process.stop();
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(running.splice(0).map((instance) => instance.stop()));
    await database.drop();
  });

  async function start(options: Parameters<typeof startInstance>[1] = {}): Promise<Instance> {
    const instance = await startInstance(database.url, options);
    running.push(instance);
    return instance;
  }

  const recorded = (event: NewEvent): RecordedEvent => ({
    ...event,
    stream: 'project-proj_made',
    revision: 7,
    position: BEGINNING,
  });

  it('are refused with their stream, revision, type and version, and what to do', () => {
    expect(() => understand(recorded(newer()))).to.throw(
      NewerEvent,
      'cannot read the event at revision 7 of project-proj_made: a newer version of Annal wrote ProjectDeleted version 2; this one reads ProjectDeleted up to version 1: upgrade this instance',
    );
    expect(() => understand(recorded(unknown()))).to.throw(
      NewerEvent,
      "cannot read the event at revision 7 of project-proj_made: a newer version of Annal wrote ProjectRenamed version 2; this one doesn't know ProjectRenamed: upgrade this instance",
    );
  });

  it('stop an instance, which leaves its projections to a newer one and follows it', async function () {
    this.timeout(60_000);
    const notes = new NewerEvents();
    const logged: string[] = [];
    const log = { warn: () => undefined, error: (_: object, message: string) => void logged.push(message) };
    const old = await start({ log, newer: notes });
    const streams = new Streams(old.store);
    await old.shown(await streams.project(made({ type: 'ProjectCreated', data: PROJECT })));
    const position = await streams.project(newer());
    await until(() => old.state('projects') === 'failed');
    const [status] = old.projector.status().filter(({ name }) => name === 'projects');
    expect(status?.failure?.message).to.contain(`${projectStream(TENANT.project)} revision 1`);
    expect(status?.failure?.message).to.contain(UPGRADE);
    expect(notes.notice).to.contain('ProjectDeleted version 2');
    expect(logged.join()).to.contain('too old to continue');
    // No lock is held, so the newer instance can run the process that this instance can't.
    const program = await bundledProgram('test/events/newer-instance.ts');
    const child = spawn(process.execPath, [program, database.url]);
    children.push(child);
    createInterface({ input: child.stdout });
    await old.shown(position);
    await old.shown(await streams.record(newUuid(), created('Patient', newUuid())));
    expect(notes.notice).to.contain('ProjectDeleted version 2');
  });

  it('stop a process, which leaves its lead to a newer instance: nothing is set aside or skipped', async () => {
    const store = await PostgresEventStore.open({ url: database.url });
    try {
      const streams = new Streams(store);
      const done: string[] = [];
      const logged: string[] = [];
      const notes = new NewerEvents();
      const run = (types: readonly string[], act: (event: RecordedEvent) => Promise<void>): Process => {
        const log = {
          info: () => undefined,
          warn: () => undefined,
          error: (_: object, message: string) => void logged.push(message),
        };
        const deps = { store, pool: database.pool, databaseUrl: database.url, log, newer: notes };
        const process = new Process({ name: 'work', types, act }, deps, { pauseMs: 20, firstPauseMs: 1 });
        process.start();
        processes.push(process);
        return process;
      };
      const old = run(['ProjectDeleted'], async (event) => void understand(event));
      const first = await streams.project(made({ type: 'ProjectCreated', data: PROJECT }));
      expect(await old.hasPassed(first, 10_000)).to.equal(true);
      const deleted = await streams.project(newer());
      await until(() => logged.some((message) => message.includes('too old to continue')));
      expect(notes.notice).to.contain(UPGRADE);
      const young = run(['ProjectDeleted', 'ProjectRenamed'], async ({ type }) => void done.push(type));
      expect(await young.hasDone(deleted, 10_000)).to.equal(true);
      young.stop();
      // An unknown type also stops the process, although the process acts only on other types.
      const later = run(['ProjectDeleted'], async () => undefined);
      await until(async () => later.hasPassed(deleted, 0));
      logged.length = 0;
      const renamed = await streams.project(unknown());
      await until(() => logged.some((message) => message.includes('too old to continue')));
      expect(await later.hasPassed(renamed, 0)).to.equal(false);
      young.start();
      expect(await young.hasDone(renamed, 10_000)).to.equal(true);
      expect(done).to.deep.equal(['ProjectDeleted', 'ProjectRenamed']);
      expect(await young.parked.all()).to.deep.equal([]);
    } finally {
      for (const process of processes.splice(0)) process.stop();
      await store.close();
    }
  });

  it('are named once by a verification, which says what to do', async () => {
    const { store, shown } = await start();
    const streams = new Streams(store);
    const patient = newUuid();
    await shown(await streams.record(patient, created('Patient', patient)));
    await streams.project(newer(), newer(), unknown());
    const report = await verify({ store, databaseUrl: database.url }, { catchUpMs: 500 });
    expect(report.log.map(({ what, stream, revision }) => [what, stream, revision])).to.deep.equal([
      ['newer', projectStream(TENANT.project), 0],
      ['newer', projectStream(TENANT.project), 2],
    ]);
    expect(report.log[0]?.message).to.contain(UPGRADE);
    expect(report.readModels).to.deep.equal([]);
    expect(report.clean).to.equal(false);
    expect(hintsFor(report)).to.have.length(1);
    expect(hintsFor(report)[0]).to.contain('newer version');
  });

  it('stop a rebuild, which leaves the serving tables as they are', async () => {
    const { store, shown } = await start();
    const streams = new Streams(store);
    await shown(await streams.project(made({ type: 'ProjectCreated', data: PROJECT })));
    await streams.project(newer());
    const failure = await rebuild({ store, databaseUrl: database.url }, ['projects'], {
      restored: true,
    }).catch((error: unknown) => error);
    expect(String(failure)).to.contain(UPGRADE);
    const { rows } = await database.pool.query('select deleted_at from projects.project');
    expect(rows).to.deep.equal([{ deleted_at: null }]);
  });

  it('are the reason that reads give while their read model lags', () => {
    const notes = new NewerEvents();
    notes.note('projects', new NewerEvent(recorded(newer()), NEWER_VERSION, 1));
    const states = [
      { name: 'projects', state: 'failed' },
      { name: 'search', state: 'following' },
    ] as const;
    const reason = (stale: readonly string[], ...models: string[]) =>
      describeStopped(states, stale, models, notes);
    expect(reason(['projects'], 'search', 'projects'))
      .to.match(/^the read model projects stopped: a newer version of Annal wrote/)
      .and.contain(UPGRADE);
    expect(reason(['search'], 'search', 'projects')).to.equal(undefined);
    expect(reason(['projects'], 'search')).to.equal(undefined);
  });

  it('make an instance say so in /health/ready, and unready once no instance goes on', async () => {
    const notes = new NewerEvents();
    const stale: string[] = [];
    const { projections } = readinessChecks({
      store: { ping: async () => undefined },
      pool: database.pool,
      watch: { check: async () => undefined },
      progress: { positions: () => new Map(), stale: () => stale },
      newer: notes,
      disks: { notice: undefined },
      models: [],
    });
    expect(await projections?.()).to.equal(undefined);
    notes.note('projects', new NewerEvent(recorded(newer()), NEWER_VERSION, 1));
    expect(await projections?.()).to.contain(UPGRADE);
    stale.push('projects');
    const failure = await projections?.().catch((error: unknown) => error);
    expect(failure).to.have.property('kind', 'unavailable');
    expect(String(failure)).to.contain('projects lag').and.to.contain(UPGRADE);
  });
});

const PROJECT = { project_id: TENANT.project, organization_id: 'org_made', name: 'Made' };

for (const [machine, settings] of [
  ['one process', HERE],
  ['several processes', { WORKERS: '2', PROJECTORS: '1' }],
] as const)
  describe(`a record with an event of a newer version, in ${machine}`, () => {
    let service: InProcess;
    let store: EventStore;
    before(async function () {
      if (EVENTSTORE_URL !== '') this.skip();
      // The read models can never reach the end of this log.
      service = await startInProcess({}, { SHUTDOWN_SECONDS: '1', ...settings });
      store = await PostgresEventStore.open({ url: service.databaseUrl });
    });
    after(async () => {
      await store?.close();
      await service?.stop();
    });

    it('takes no writes by this instance: 503, with the reason and without the stream', async () => {
      const patient = (await service.post('/Patient', { resourceType: 'Patient', gender: 'other' })).json.id;
      const stream = recordStream(String(patient));
      let head = { revision: -1, hash: '' };
      for await (const event of store.read(stream))
        head = { revision: event.revision, hash: understand(event).metadata.hash ?? '' };
      await store.append(stream, head, [{ ...newer(), type: 'RecordMerged' }]);
      const body = JSON.stringify({ resourceType: 'Patient', id: patient, gender: 'female' });
      const answer = await service.fhir(`/Patient/${patient}`, { method: 'PUT', body });
      expect(answer.status, String(answer)).to.equal(503);
      expect(answer.headers.get('retry-after')).to.equal('1');
      expect(answer.text).to.contain("doesn't know RecordMerged").and.to.contain(UPGRADE);
      expect(answer.text).to.not.contain(stream);
      await service.logged(`the event at revision 1 of ${stream}`);
    });

    it('is why read models lag: reads and /health/ready name the version', async () => {
      const asks = [`${service.base}/Patient?gender=other`, `${service.url}/health/ready`];
      const headers = { Authorization: `Bearer ${service.key}`, connection: 'close' };
      for (const url of asks)
        await eventually(
          async () => (await (await fetchOnce(url, { headers })).text()).includes(UPGRADE),
          60_000,
        );
    });
  });
