import { expect } from 'chai';
import { PROJECTIONS } from '#projections/all.ts';
import { CannotApply } from '#projections/failure.ts';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { type RebuildOptions, RebuildRunning, rebuild } from '#projections/rebuild/rebuild.ts';
import { openPool } from '#src/database/pool.ts';
import type { EventStore } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, erasureRequested, Streams, until } from './made.ts';
import { someRecord, someRecords } from './some-records.ts';

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

  it('gives the same rows in new tables with the same indexes', async () => {
    await instance.shown(await someRecords(instance, streams, 40));
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

  it('refuses no read and loses no write meanwhile', async () => {
    await instance.shown(await someRecords(instance, streams, 50));
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
        // A write is visible as soon as its projections have passed it, even during the swap.
        const id = newUuid();
        const last = await streams.directory(created('Organization', id));
        expect(await instance.progress.waitFor(last, names, 10_000)).to.equal(true);
        const { rows } = await readers.query({
          name: 'mine',
          text: 'select r.version from resources.resource r join history.version v using (id) where r.id = $1',
          values: [id],
        });
        expect(rows).to.deep.equal([{ version: 1 }]);
        if (records % 5 === 0) await someRecord(instance, streams, records);
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

  it('reads the log once for several projections', async () => {
    await instance.shown(await someRecords(instance, streams, 60));
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

  itAtFullSize('gives the same, and finds the same, at a low load', async () => {
    await instance.shown(await someRecords(instance, streams, 30));
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

  it('names the event that the tables refuse, and leaves what serves as it is', async () => {
    await instance.shown(await someRecords(instance, streams, 3));
    const before = await rowsOf('history.version');
    const [{ event_id: refused }] = await query('select event_id from history.version offset 4 limit 1');
    const refusing: Projection = {
      ...history,
      tables: (schema) =>
        `${history.tables(schema)}\nalter table ${schema}.version add check (event_id <> '${refused}');`,
    };
    const failure = await rebuild(deps([refusing]), ['history']).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(CannotApply).with.nested.property('event.id', refused);
    expect(await rowsOf('history.version')).to.deep.equal(before);
  });

  it('is refused while another one runs', async () => {
    await instance.shown(await someRecords(instance, streams, 10));
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
    await instance.shown(await someRecords(instance, streams, 12));
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
    await instance.shown(await someRecords(instance, streams, 10));
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

  it('brings the read model search from version 5, which serves until the swap', async () => {
    const [patient, request] = [newUuid(), newUuid()];
    const contained = [{ resourceType: 'Medication', id: 'a', code: { coding: [{ code: 'inside' }] } }];
    const last = await streams.record(
      patient,
      created('Patient', patient, { name: [{ family: `Ø${'x'.repeat(600)}` }] }),
      created('MedicationRequest', request, {
        status: 'active',
        contained,
        medicationReference: { reference: '#a' },
        subject: { reference: `Patient/${patient}` },
      }),
    );
    await instance.shown(last);
    await until(async () => (await rowsOf('search.entry')).length === 3);
    await instance.stop();
    const right = await Promise.all(['search.entry', 'search.string'].map(rowsOf));
    // The tables as software of version 5 left them: no contained resources, no texts to sort by, and long texts truncated.
    await query(`delete from search.entry where container is not null;
      alter table search.entry drop column sorts, drop column container;
      alter table search.string drop column rest;
      update search.string set folded = replace(folded, 'o', 'ø'), exact = coalesce(exact, '');
      update search.checkpoint set version = 5`);
    instance = await startInstance(database.url);
    streams = new Streams(instance.store);
    await until(() => instance.state('search') === 'outdated' && instance.state('resources') === 'running');
    const served: unknown[] = [];
    const reports = await rebuild(deps(), ['search'], {
      onProgress: () => {
        // This query starts long before the swap. A query started at the beginning of the swap might run after its end.
        if (served.length === 0) served.push(query('select version from search.checkpoint'));
      },
    });
    expect(reports.map(({ outcome }) => outcome)).to.deep.equal(['swapped']);
    expect(await Promise.all(served)).to.deep.equal([[{ version: 5 }]]);
    expect(await Promise.all(['search.entry', 'search.string'].map(rowsOf))).to.deep.equal(right);
    await until(() => instance.state('search') === 'running');
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
