import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { sweepAbandoned } from '#projections/abandoned.ts';
import { PROJECTIONS } from '#projections/all.ts';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { type RebuildOptions, RebuildRunning, rebuild } from '#projections/rebuild.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStore, Position } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startProgram } from '#test/support/process.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, deleted, erased, erasureRequested, Streams, until, updated } from './made.ts';

/** The program that `is killed` runs. */
const REBUILDING = fileURLToPath(new URL('rebuild-process.ts', import.meta.url));

describe('rebuild', () => {
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
  const oid = async (table: string) => (await query(`select '${table}'::regclass::oid as oid`))[0].oid;
  const schemas = async () =>
    (
      await query(
        `select nspname from pg_namespace where nspname ~ '^(resources|history|projects)' order by 1`,
      )
    ).map(({ nspname }) => nspname);
  const TABLES = ['resources.resource', 'history.version', 'history.client_provenance'];

  /** A record with creates, updates, deletes and, now and then, an erasure. */
  async function someRecord(n: number): Promise<Position> {
    const patient = newUuid();
    const identifier = [{ system: 'urn:mrn', value: `mrn-${n}` }];
    let last = await streams.record(patient, created('Patient', patient, { identifier }));
    const [one, two] = [newUuid(), newUuid()];
    last = await streams.record(
      patient,
      created('Observation', one),
      created('Condition', two, { identifier }),
    );
    last = await streams.record(
      patient,
      updated('Observation', one, 2),
      updated('Patient', patient, 2, { identifier }),
    );
    last = await streams.record(patient, deleted('Condition', two, 3 - 1));
    if (n % 7 === 0) last = await streams.directory(created('Practitioner', newUuid(), { identifier }));
    if (n % 5 === 0) {
      await instance.store.erase(`record-${patient}`);
      last = await streams.project(erased(patient));
    }
    return last;
  }
  async function someRecords(n: number): Promise<Position> {
    let last = await someRecord(1);
    for (let i = 2; i <= n; i += 1) last = await someRecord(i);
    return last;
  }

  it('gives the same rows in new tables with the same indexes', async () => {
    await instance.shown(await someRecords(40));
    const before = await Promise.all(TABLES.map(rowsOf));
    const oids = await Promise.all(TABLES.map(oid));
    const indexes = () =>
      query(
        `select schemaname, indexname, indexdef from pg_indexes where schemaname in ('resources', 'history') order by 1, 2`,
      );
    const indexed = await indexes();
    const phases = new Set<string>();
    const reports = await rebuild(deps(), names, { onProgress: ({ phase }) => phases.add(phase) });
    expect(reports.map(({ name, outcome }) => [name, outcome])).to.deep.equal([
      ['resources', 'swapped'],
      ['history', 'swapped'],
    ]);
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(before);
    expect(await Promise.all(TABLES.map(oid))).to.not.include.members(oids);
    expect(await indexes()).to.deep.equal(indexed);
    expect([...phases]).to.deep.equal(['loading', 'indexing', 'comparing', 'swapping', 'done']);
    expect(await schemas()).to.deep.equal(['history', 'projects', 'resources']);
  });

  it('refuses no read and loses no write meanwhile', async function () {
    this.timeout(120_000);
    await instance.shown(await someRecords(50));
    let over = false;
    let reads = 0;
    const readers = openPool(database.url, { max: 4 });
    const read = async (): Promise<void> => {
      while (!over) {
        await readers.query({
          name: 'by-id',
          text: 'select id, body from resources.resource where id = $1',
          values: [newUuid()],
        });
        await readers.query({
          name: 'count',
          text: 'select count(*) from history.version v join resources.resource r using (id)',
        });
        await readers.query('select type, count(*) from resources.resource group by type');
        reads += 1;
      }
    };
    let records = 50;
    const write = async (): Promise<void> => {
      while (!over) {
        records += 1;
        // A write is visible as soon as its projections passed it: also across the swap.
        const id = newUuid();
        const last = await streams.directory(created('Organization', id));
        expect(await instance.progress.waitFor(last, names, 10_000)).to.equal(true);
        const { rows } = await readers.query({
          name: 'mine',
          text: 'select r.version from resources.resource r join history.version v using (id) where r.id = $1',
          values: [id],
        });
        expect(rows).to.deep.equal([{ version: 1 }]);
        if (records % 5 === 0) await someRecord(records);
      }
    };
    const load = Promise.all([read(), read(), write()]);
    for (let i = 0; i < 4; i += 1) {
      const seen = reads;
      const reports = await rebuild(deps(), names);
      expect(reports.map(({ outcome }) => outcome)).to.deep.equal(['swapped', 'swapped']);
      await until(() => reads > seen + 5);
    }
    over = true;
    await load;
    await readers.end();
    await instance.shown(await instance.store.head());
    expect(instance.state('resources')).to.equal('running');
    const served = await Promise.all(TABLES.map(rowsOf));
    const last = await rebuild(deps(), names);
    expect(last.map(({ outcome, differences }) => [outcome, differences])).to.deep.equal([
      ['swapped', []],
      ['swapped', []],
    ]);
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(served);
  });

  it('can be stopped and goes on from there', async () => {
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
    await instance.shown(await someRecord(1));
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
    await instance.shown(await someRecord(1));
    const program = startProgram(process.execPath, ['--import', 'tsx', REBUILDING, database.url, ...names]);
    await program.line('loaded');
    // Now it holds the record's rows and reads no more.
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

  it('reads the log once for several projections', async () => {
    await instance.shown(await someRecords(60));
    const [{ count }] = await query('select count(*) from log.events');
    let read = 0;
    const counting: Pick<EventStore, 'subscribe' | 'head' | 'read'> = {
      head: () => instance.store.head(),
      read: (stream, options) => instance.store.read(stream, options),
      subscribe: (options) =>
        instance.store.subscribe({
          ...options,
          handle(batch) {
            read += batch.events.length;
            return options.handle(batch);
          },
        }),
    };
    const reports = await rebuild({ ...deps(), store: counting }, names);
    expect(reports.map(({ outcome, events }) => [outcome, events])).to.deep.equal([
      ['swapped', count],
      ['swapped', count],
    ]);
    expect(read).to.equal(count);
  });

  it('goes on from different places', async () => {
    await instance.shown(await someRecords(20));
    const stop = new AbortController();
    const halfway: RebuildOptions = {
      signal: stop.signal,
      onProgress: ({ phase }) => phase === 'indexing' && stop.abort(),
    };
    const [stopped] = await rebuild(deps(), ['history'], halfway);
    expect(stopped?.outcome).to.equal('stopped');
    expect(stopped?.events).to.be.above(0);
    await instance.shown(await someRecords(20));
    const before = await Promise.all(TABLES.map(rowsOf));
    const reports = await rebuild(deps(), names);
    expect(reports.map(({ outcome, differences }) => [outcome, differences.length])).to.deep.equal([
      ['swapped', 0],
      ['swapped', 0],
    ]);
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(before);
  });

  it('gives the same, and finds the same, at a low load', async () => {
    await instance.shown(await someRecords(30));
    const right = await Promise.all(TABLES.map(rowsOf));
    const [gone] = await query(`select id from resources.resource where type = 'Observation' limit 1`);
    await database.pool.query('delete from resources.resource where id = $1', [gone.id]);
    const told: string[] = [];
    const [report] = await rebuild(deps(), ['resources'], {
      load: 'low',
      onProgress: ({ phase }) => told.push(phase),
      onCompared: (name) => told.push(`compared ${name}`),
    });
    expect(report?.outcome).to.equal('differs');
    expect(report?.differences.map(({ key, what }) => [key.id, what])).to.deep.equal([[gone.id, 'missing']]);
    const [resources] = report?.compared ?? [];
    const rows = right[0]?.length ?? 0;
    expect(resources).to.deep.include({ table: 'resource', rows: [rows - 1, rows] });
    expect(told.at(-1)).to.equal('compared resources');
    const [forced] = await rebuild(deps(), ['resources'], { load: 'low', force: true });
    expect(forced?.outcome).to.equal('swapped');
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(right);
  });

  it('is refused while another one runs', async () => {
    await instance.shown(await someRecords(10));
    let second: unknown;
    const options: RebuildOptions = {
      onProgress: () => {
        second ??= rebuild(deps(), ['resources']).catch((error: unknown) => error);
      },
    };
    await rebuild(deps(), ['resources'], options);
    expect(await second).to.be.instanceOf(RebuildRunning);
  });

  it('does not swap when the serving rows differ, names them, and swaps when forced', async () => {
    await instance.shown(await someRecords(12));
    const right = await Promise.all(TABLES.map(rowsOf));
    const [changed, gone] = await query(
      `select id from resources.resource where type = 'Observation' order by id limit 2`,
    );
    await database.pool.query(`update resources.resource set body = body || ' ' where id = $1`, [changed.id]);
    await database.pool.query('delete from resources.resource where id = $1', [gone.id]);
    const stranger = newUuid();
    await database.pool.query(
      `insert into resources.resource (id, type, tenant, version, created_at, last_updated, deleted, stream)
       values ($1, 'Device', $1, 1, 0, 0, true, '')`,
      [stranger],
    );
    const [report] = await rebuild(deps(), ['resources']);
    expect(report?.outcome).to.equal('differs');
    const byTable = report?.differences.map(({ table, key, what, columns }) => [
      table,
      key.id,
      what,
      columns,
    ]);
    expect(byTable).to.have.deep.members([
      ['resource', changed.id, 'changed', ['body']],
      ['resource', gone.id, 'missing', undefined],
      ['resource', stranger, 'orphan', undefined],
    ]);
    const [forced] = await rebuild(deps(), ['resources'], { force: true });
    expect(forced?.outcome).to.equal('swapped');
    expect(await Promise.all(TABLES.map(rowsOf))).to.deep.equal(right);
  });

  it('is what a start with another version needs: only then is it served again', async () => {
    await instance.shown(await someRecords(10));
    await instance.stop();
    const wider: Projection = {
      ...history,
      version: history.version + 1,
      tables: (schema) =>
        `${history.tables(schema)} alter table ${schema}.version add column extra int not null default 7;`,
    };
    const projections = PROJECTIONS.map((each) => (each.name === 'history' ? wider : each));
    instance = await startInstance(database.url, { projections });
    streams = new Streams(instance.store);
    await until(() => instance.state('history') === 'outdated' && instance.state('resources') === 'running');
    const patient = newUuid();
    const last = await streams.record(patient, created('Patient', patient));
    expect(await instance.progress.waitFor(last, ['history'], 200)).to.equal(false);
    const [report] = await rebuild(deps(projections), ['history']);
    expect(report?.outcome).to.equal('swapped');
    await instance.shown(last);
    await until(() => instance.state('history') === 'running');
    expect(await query('select distinct extra from history.version')).to.deep.equal([{ extra: 7 }]);
  });

  it('leaves alone a record whose events are gone but whose erasure is not yet on record', async () => {
    const patient = newUuid();
    const identifier = [{ value: 'x' }];
    await streams.record(patient, created('Patient', patient, { identifier }));
    await instance.shown(await streams.project(erasureRequested(patient)));
    await instance.store.erase(`record-${patient}`);
    const reports = await rebuild(deps(), names);
    expect(reports.map(({ outcome, differences }) => [outcome, differences])).to.deep.equal([
      ['swapped', []],
      ['swapped', []],
    ]);
  });
});
