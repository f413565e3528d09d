import { expect } from 'chai';
import { history } from '#projections/history/project.ts';
import { lockKeys } from '#projections/locks.ts';
import type { Projection } from '#projections/projection.ts';
import type { ProjectorTimes } from '#projections/projector.ts';
import { resources } from '#projections/resources/project.ts';
import type { Position } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, Streams, until, updated } from './made.ts';

describe('read models of one transaction', () => {
  let database: TestDatabase;
  const running: Instance[] = [];

  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(async () => {
    await Promise.all(running.splice(0).map((instance) => instance.stop()));
    await database.drop();
  });

  async function start(
    projections: readonly Projection[] = [resources, history],
    times: ProjectorTimes = {},
  ): Promise<Instance> {
    const instance = await startInstance(database.url, { projections, ...times });
    running.push(instance);
    return instance;
  }

  /** Appends a patient and a second version of the patient. */
  async function write(store: Instance['store']): Promise<Position> {
    const streams = new Streams(store);
    const patient = newUuid();
    await streams.record(patient, created('Patient', patient));
    return streams.record(patient, updated('Patient', patient, 2));
  }

  /** Returns the transactions that wrote each resource and its current version. */
  async function writers(): Promise<{ resource: string; version: string }[]> {
    const { rows } = await database.pool.query(
      `select r.xmin::text as resource, v.xmin::text as version
         from resources.resource r join history.version v on v.id = r.id and v.version = r.version order by r.id`,
    );
    return rows;
  }

  it('are written together, also after a restart', async () => {
    for (let starts = 1; starts < 3; starts += 1) {
      const { store, shown, projector, stop } = await start();
      await shown(await write(store));
      expect(projector.status().map(({ state }) => state)).to.deep.equal(['running', 'running']);
      const each = await writers();
      expect(each).to.have.length(starts);
      for (const { resource, version } of each) expect(resource).to.equal(version);
      running.pop();
      await stop();
    }
  });

  it('take each only what they have not taken yet', async () => {
    const first = await start();
    await first.shown(await write(first.store));
    await first.stop();
    running.pop();
    await database.pool.query(`truncate history.version; update history.checkpoint set position = ''`);

    const taken = { resources: 0, history: 0 };
    const { store, shown } = await start(
      [resources, history].map((each) => ({
        ...each,
        statements(schema, events) {
          taken[each.name as keyof typeof taken] += events.length;
          return each.statements(schema, events);
        },
      })),
    );
    await shown(await write(store));
    expect(taken).to.deep.equal({ resources: 2, history: 4 });
    const { rows } = await database.pool.query('select count(*)::int as n from history.version');
    expect(rows).to.deep.equal([{ n: 4 }]);
  });

  it('are run one by one if one of them is far behind', async () => {
    const first = await start();
    const streams = new Streams(first.store);
    for (let n = 0; n < 8; n += 1) {
      const patient = newUuid();
      const observations = Array.from({ length: 600 }, () => created('Observation', newUuid()));
      await streams.record(patient, created('Patient', patient), ...observations);
    }
    await first.shown(await write(first.store));
    await first.stop();
    running.pop();
    await database.pool.query(`truncate history.version; update history.checkpoint set position = ''`);

    const slow: Projection = {
      ...history,
      statements: (schema, events) => [
        { text: 'select pg_sleep(0.25)' },
        ...history.statements(schema, events),
      ],
    };
    const { store, shown, progress } = await start([resources, slow]);
    const last = await write(store);
    expect(await progress.waitFor(last, ['resources'], 9_000)).to.equal(true);
    expect((progress.passed('history') ?? '') < last).to.equal(true);
    await shown(last);
    const { rows } = await database.pool.query('select count(*)::int as n from history.version');
    expect(rows).to.deep.equal([{ n: 8 * 601 + 4 }]);
  });

  for (const [kept, free] of [
    ['history', 'resources'],
    ['resources', 'history'],
  ] as const)
    it(`are run one by one while another instance keeps ${kept}`, async () => {
      const blocker = await database.pool.connect();
      try {
        const keys = lockKeys(`run ${kept}`);
        await blocker.query('select pg_advisory_lock($1, $2)', keys);
        const { store, progress, state, shown } = await start(undefined, {
          electionMs: 500,
          heartbeatLimitMs: 60_000,
        });
        const last = await write(store);
        // Reads are refused after nine seconds.
        expect(await progress.waitFor(last, [free], 8_000)).to.equal(true);
        expect(state(free)).to.equal('running');
        expect(state(kept)).to.equal('following');
        await blocker.query('select pg_advisory_unlock($1, $2)', keys);
        await shown(last);
        await until(() => state(kept) === 'running');
      } finally {
        blocker.release();
      }
    });
});
