/** Rebuilds that are stopped or killed, and later continued; what they leave behind is cleaned up. */
import { expect } from 'chai';
import { sweepAbandoned } from '#projections/abandoned.ts';
import { PROJECTIONS } from '#projections/all.ts';
import type { Projection } from '#projections/projection.ts';
import { type RebuildOptions, rebuild } from '#projections/rebuild/rebuild.ts';
import { newUuid } from '#src/shared/ids.ts';
import { bundledProgram } from '#test/support/bundled-program.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startProgram } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, erased, Streams, until } from './made.ts';
import { someRecord, someRecords } from './some-records.ts';

/** The program that the tests of killed rebuilds run. */
const REBUILDING = 'test/projections/rebuild-process.ts';

describe('a rebuild that is interrupted', () => {
  const names = ['resources', 'history'];
  let database: TestDatabase;
  let instance: Instance;
  let streams: Streams;

  beforeEach(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    streams = new Streams(instance.store);
  });
  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  const deps = (projections?: readonly Projection[]) => ({
    store: instance.store,
    databaseUrl: database.url,
    ...(projections === undefined ? {} : { projections }),
  });
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  const rowsOf = async (table: string) =>
    (await query(`select t::text as row from ${table} t order by 1`)).map(({ row }) => row);
  const schemas = async () =>
    (
      await query(
        `select nspname from pg_namespace where nspname ~ '^(resources|history|projects)' order by 1`,
      )
    ).map(({ nspname }) => nspname);
  const TABLES = ['resources.resource', 'history.version', 'history.client_provenance'];

  itAtFullSize('can be stopped and goes on from there', async () => {
    for (let i = 0; i < 3; i += 1) {
      const patient = newUuid();
      const rest = Array.from({ length: 2_500 }, () => created('Observation', newUuid()));
      await instance.shown(await streams.record(patient, created('Patient', patient), ...rest));
    }
    const before = await Promise.all(TABLES.map(rowsOf));
    const stop = new AbortController();
    const options: RebuildOptions = {
      signal: stop.signal,
      onProgress: ({ events }) => {
        if (events > 0) stop.abort();
      },
    };
    const [first] = await rebuild(deps(), ['history'], options);
    expect(first).to.include({ outcome: 'stopped' });
    expect(first?.events).to.be.within(1, 7_502);
    expect(await schemas()).to.include('history_next');
    const [second] = await rebuild(deps(), ['history']);
    expect(second).to.include({ outcome: 'swapped' });
    expect((first?.events ?? 0) + (second?.events ?? 0)).to.equal(7_503);
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(before);
  });

  it('keeps nothing of a record that is erased while it is stopped', async () => {
    const patient = newUuid();
    const rest = Array.from({ length: 2_500 }, () => created('Observation', newUuid()));
    await instance.shown(await streams.record(patient, created('Patient', patient), ...rest));
    await instance.shown(await someRecord(instance, streams, 1));
    const stop = new AbortController();
    await rebuild(deps(), ['resources'], {
      signal: stop.signal,
      onProgress: ({ events }) => {
        if (events > 0) stop.abort();
      },
    });
    const left = () => query(`select 1 from resources_next.resource where record = '${patient}' limit 1`);
    expect(await left()).to.have.length(1);
    await instance.store.erase(`record-${patient}`);
    await instance.shown(await streams.project(erased(patient)));
    expect(await left()).to.have.length(0);
    const [report] = await rebuild(deps(), ['resources']);
    expect(report).to.deep.include({ outcome: 'swapped', differences: [] });
  });

  it('is killed, and keeps nothing of a record that was erased while it ran', async () => {
    const patient = newUuid();
    const rest = Array.from({ length: 2_500 }, () => created('Observation', newUuid()));
    await instance.shown(await streams.record(patient, created('Patient', patient), ...rest));
    await instance.shown(await someRecord(instance, streams, 1));
    const rebuilding = await bundledProgram(REBUILDING);
    const program = startProgram(process.execPath, [rebuilding, database.url, ...names]);
    await program.line('loaded');
    // The rebuild has now read the record's rows and won't read more.
    await instance.store.erase(`record-${patient}`);
    await instance.shown(await streams.project(erased(patient)));
    const left = async () =>
      (await query(`select 1 from resources_next.resource where record = '${patient}' limit 1`)).length +
      (await query(`select 1 from history_next.version where record = '${patient}' limit 1`)).length;
    await sweepAbandoned(database.pool, PROJECTIONS);
    expect(await left(), 'it is not abandoned yet').to.equal(2);
    program.child.kill('SIGKILL');
    await program.ended;
    await until(async () => {
      await sweepAbandoned(database.pool, PROJECTIONS);
      return (await left()) === 0;
    });
    const reports = await rebuild(deps(), names);
    expect(reports.map(({ outcome, differences }) => [outcome, differences])).to.deep.equal([
      ['swapped', []],
      ['swapped', []],
    ]);
  });

  it('sweeps away what else the killed leave', async () => {
    await query('create schema resources_old; create schema history_verify');
    await sweepAbandoned(database.pool, PROJECTIONS);
    expect(await schemas()).to.deep.equal(['history', 'projects', 'resources']);
  });

  it('goes on from different places', async () => {
    await instance.shown(await someRecords(instance, streams, 20));
    const stop = new AbortController();
    const halfway: RebuildOptions = {
      signal: stop.signal,
      onProgress: ({ phase }) => phase === 'indexing' && stop.abort(),
    };
    const [stopped] = await rebuild(deps(), ['history'], halfway);
    expect(stopped?.outcome).to.equal('stopped');
    expect(stopped?.events).to.be.above(0);
    await instance.shown(await someRecords(instance, streams, 20));
    const before = await Promise.all(TABLES.map(rowsOf));
    const reports = await rebuild(deps(), names);
    expect(reports.map(({ outcome, differences }) => [outcome, differences.length])).to.deep.equal([
      ['swapped', 0],
      ['swapped', 0],
    ]);
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(before);
  });
});
