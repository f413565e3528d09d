import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { expect } from 'chai';
import type { Projection } from '#projections/projection.ts';
import { resources } from '#projections/resources/project.ts';
import type { Position } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { bundledProgram } from '#test/support/bundled-program.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, erased, made, Streams, until, updated } from './made.ts';

describe('projector', () => {
  let database: TestDatabase;
  const running: Instance[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await Promise.all(running.splice(0).map((instance) => instance.stop()));
    await database.drop();
  });

  async function start(
    ...options: Parameters<typeof startInstance> extends [string, ...infer R] ? R : never
  ) {
    const instance = await startInstance(database.url, ...options);
    running.push(instance);
    return instance;
  }
  const count = async (table: string): Promise<number> =>
    (await database.pool.query(`select count(*) as n from ${table}`)).rows[0].n;
  const checkpoint = async (name: string): Promise<string> =>
    (await database.pool.query(`select position from ${name}.checkpoint`)).rows[0].position;

  /** Appends `n` resources to a new record, each with its own append; returns the last position. */
  async function write(streams: Streams, n: number): Promise<Position> {
    const patient = newUuid();
    let last = await streams.record(patient, created('Patient', patient));
    for (let i = 1; i < n; i += 1) last = await streams.record(patient, created('Observation', newUuid()));
    return last;
  }

  it('shows what was appended, and its checkpoint says how far', async () => {
    const { store, shown } = await start();
    const streams = new Streams(store);
    const patient = newUuid();
    await streams.record(patient, created('Patient', patient), created('Observation', newUuid()));
    const last = await streams.record(patient, updated('Patient', patient, 2));
    await shown(last);
    expect(await count('resources.resource')).to.equal(2);
    expect(await count('history.version')).to.equal(3);
    expect(await checkpoint('resources')).to.equal(last);
    await shown(await streams.project(erased(patient)));
    expect(await count('resources.resource')).to.equal(0);
    expect(await count('history.version')).to.equal(0);
  });

  it('passes events that a projection does not take, and writes that down', async () => {
    const { store, shown } = await start();
    const last = await write(new Streams(store), 3);
    await shown(last);
    await until(async () => (await checkpoint('projects')) === last);
  });

  it('goes on from its checkpoint after a restart', async () => {
    const first = await start();
    const streams = new Streams(first.store);
    await first.shown(await write(streams, 5));
    await first.projector.stop();
    const last = await write(streams, 5);
    const second = await start();
    await second.shown(last);
    expect(await count('history.version')).to.equal(10);
  });

  it('has one runner per projection, and another takes over when it stops', async () => {
    const first = await start();
    await until(() => first.state('resources') === 'running' && first.state('history') === 'running');
    const second = await start();
    await until(() => second.state('resources') === 'following' && second.state('history') === 'following');
    const streams = new Streams(first.store);
    // The second instance is notified of what the first instance's runner commits.
    await second.shown(await write(streams, 20));
    const more = write(streams, 50);
    await first.projector.stop();
    await second.shown(await more);
    expect(second.state('resources')).to.equal('running');
    expect(await count('history.version')).to.equal(70);
    expect(await count('resources.resource')).to.equal(70);
  });

  it('goes on after its sessions were killed under load', async () => {
    const { store, shown } = await start();
    const streams = new Streams(store);
    const writing = write(streams, 400);
    for (let kills = 0; kills < 5; kills += 1) {
      const before = await count('history.version');
      await until(async () => (await count('history.version')) > before + 20 || before > 350);
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name ~ '^annal (projection|progress)'`,
      );
    }
    await shown(await writing);
    expect(await count('history.version')).to.equal(400);
    expect(await count('resources.resource')).to.equal(400);
  });

  it('does not write when somebody else moved the checkpoint, but begins anew from it', async () => {
    const { store, shown } = await start();
    const streams = new Streams(store);
    await shown(await write(streams, 10));
    await database.pool.query(`truncate resources.resource; update resources.checkpoint set position = ''`);
    const last = await write(streams, 1);
    await until(
      async () => (await count('resources.resource')) === 11 && (await checkpoint('resources')) === last,
    );
  });

  itAtFullSize('takes over from a runner that hangs, which then cannot write any more', async () => {
    const child = spawn(
      process.execPath,
      [await bundledProgram('test/projections/instance-process.ts'), database.url],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    children.push(child);
    const said: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => said.push(line));
    await until(() => said.at(-1) === 'running');

    const here = await start({ heartbeatLimitMs: 5_000 });
    await until(() => here.state('resources') === 'following');
    const streams = new Streams(here.store);
    await here.shown(await write(streams, 10));
    child.kill('SIGSTOP');
    const stopped = performance.now();
    const last = await write(streams, 10);
    await here.shown(last);
    const took = performance.now() - stopped;
    expect(took).to.be.within(3_500, 10_000);
    expect(here.state('resources')).to.equal('running');

    child.kill('SIGCONT');
    await until(() => /following.*following.*following/.test(said.at(-1) ?? ''));
    await here.shown(await write(streams, 10));
    expect(await count('history.version')).to.equal(30);
    expect(here.state('resources')).to.equal('running');
  });

  it('is not taken for hung while it makes the statements of a batch, however long that takes', async () => {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const slow: Projection = {
      ...resources,
      *inSteps(schema, events) {
        for (const end = performance.now() + 7_000; performance.now() < end; ) {
          Atomics.wait(cell, 0, 0, 10);
          yield;
        }
        return resources.statements(schema, events);
      },
    };
    const interrupted: string[] = [];
    const log = { warn: (_: object, message: string) => interrupted.push(message), error: () => undefined };
    const options = { projections: [slow], log, heartbeatLimitMs: 3_000 };
    const instances = [await start(options), await start(options)];
    const states = () => instances.map(({ state }) => state('resources')).sort();
    await until(() => states().join() === 'following,running');
    const [here] = instances;
    if (here !== undefined) await here.shown(await write(new Streams(here.store), 1));
    expect(interrupted).to.deep.equal([]);
  });

  describe('at an event that cannot be applied', () => {
    it('stops that projection alone, names the event, and goes on once it can be applied', async () => {
      let refused: string | undefined;
      const picky: Projection = {
        ...resources,
        name: 'picky',
        statements(schema, events) {
          if (events.some(({ id }) => id === refused)) throw new Error('it is refused');
          return resources.statements(schema, events);
        },
      };
      const { store, projector, progress, state, shown } = await start({
        projections: [picky, resources],
        failedRetryMs: 100,
      });
      const streams = new Streams(store);
      const patient = newUuid();
      await shown(await streams.record(patient, created('Patient', patient)));
      const bad = created('Observation', newUuid());
      refused = bad.id;
      const events = [created('Observation', newUuid()), bad, created('Observation', newUuid())];
      const last = await streams.record(patient, ...events);
      await until(() => state('picky') === 'failed');
      expect(await progress.waitFor(last, ['resources'], 5_000)).to.equal(true);
      expect(state('resources')).to.equal('running');
      const failure = projector.status().find(({ name }) => name === 'picky')?.failure;
      expect(failure?.event).to.include({
        id: bad.id,
        type: 'ResourceCreated',
        stream: recordStream(patient),
        revision: 2,
      });
      expect(failure?.event?.position).to.be.a('string');
      expect(failure?.message).to.include('it is refused').and.to.include(bad.id);
      expect(await count('picky.resource')).to.equal(1);

      refused = undefined;
      await shown(last);
      expect(state('picky')).to.equal('running');
      expect(await count('picky.resource')).to.equal(4);
    });

    it('also names one that it does not know, and one that the tables refuse', async () => {
      const { store, projector, state } = await start({ failedRetryMs: 60_000 });
      const streams = new Streams(store);
      const patient = newUuid();
      const event = created('Patient', patient);
      const data = event.data.replace(`"resource_id":"${patient}"`, `"resource_id":"${'-'.repeat(36)}"`);
      await streams.record(patient, { ...event, data });
      // A projection that collects events may receive both at once, and its error may name either.
      const refusing = ['resources', 'history', 'search'];
      await until(() => refusing.every((name) => state(name) === 'failed'));
      await streams.project({
        ...made({ type: 'ApiKeyRevoked', data: { key_id: 'k' } }),
        type: 'NeverHeardOf',
      });
      await until(() => state('projects') === 'failed');
      const failed = new Map(projector.status().map(({ name, failure }) => [name, failure?.event]));
      for (const name of refusing) expect(failed.get(name)?.id, name).to.equal(event.id);
      expect(failed.get('projects')?.type).to.equal('NeverHeardOf');
    });

    it('says nothing of what the event holds, in the log and in the status', async () => {
      const logged: unknown[] = [];
      const log = {
        warn: (...line: unknown[]) => logged.push(line),
        error: (...line: unknown[]) => logged.push(line),
      };
      const { store, projector, state } = await start({ failedRetryMs: 60_000, log });
      const patient = newUuid();
      const marker = 'Mrs-Marker-of-the-Body';
      const event = created('Patient', patient, { name: [{ family: marker }] });
      // PostgreSQL refuses the id and quotes it in the error.
      const quoted = marker.padEnd(36, '-');
      const data = event.data.replace(`"resource_id":"${patient}"`, `"resource_id":"${quoted}"`);
      await new Streams(store).record(patient, { ...event, data });
      await until(() => state('resources') === 'failed' && state('history') === 'failed');
      const told = inspect([logged, projector.status()], { depth: null, showHidden: true });
      expect(told).to.include(event.id).and.not.to.include(marker);
      const [status] = projector.status();
      expect(Object.keys(status?.failure?.event ?? {})).to.have.members([
        'id',
        'type',
        'stream',
        'revision',
        'position',
      ]);
    });
  });
});
