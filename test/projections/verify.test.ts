import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { endableAppends } from '#src/events/wrapped-store.ts';
import { drainProjections } from '#src/freshness/drain.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, deleted, erased, made, Streams, TENANT, updated } from './made.ts';

describe('verify', () => {
  let database: TestDatabase;
  let instance: Instance;
  let streams: Streams;
  let patient: string;
  let observation: string;

  beforeEach(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    streams = new Streams(instance.store);
    [patient, observation] = [newUuid(), newUuid()];
    const identifier = [{ system: 's', value: 'v' }];
    await streams.project(
      made({
        type: 'ProjectCreated',
        data: { project_id: TENANT.project, organization_id: 'org_1', name: 'Pilot' },
      }),
    );
    await streams.record(patient, created('Patient', patient, { identifier }));
    await streams.record(patient, created('Observation', observation), updated('Patient', patient, 2));
    await streams.record(
      patient,
      updated('Observation', observation, 2),
      deleted('Observation', observation, 3),
    );
    const gone = newUuid();
    await streams.record(gone, created('Patient', gone, { identifier }));
    await instance.store.erase(`record-${gone}`);
    await streams.project(erased(gone));
    await instance.shown(await streams.directory(created('Organization', newUuid(), { identifier })));
  });
  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  const deps = () => ({ store: instance.store, databaseUrl: database.url });
  const sql = (text: string, ...values: unknown[]) => database.pool.query(text, values);
  const stream = () => `record-${patient}`;

  it('finds nothing where nothing is wrong, also while others write, and leaves nothing behind', async () => {
    let over = false;
    const writing = (async () => {
      while (!over) await streams.record(patient, created('Observation', newUuid()));
    })();
    const report = await verify(deps());
    over = true;
    await writing;
    expect(report.log).to.deep.equal([]);
    expect(report.readModels).to.deep.equal([]);
    expect(report.clean).to.equal(true);
    expect(report.streams).to.equal(3);
    expect(report.events).to.be.at.least(8);
    const left = await sql(`select 1 from pg_namespace where nspname like '%\\_verify'`);
    expect(left.rowCount).to.equal(0);
  });

  it('names an event that was changed, and the rows that no longer follow from it', async () => {
    const changed = await sql(
      `update log.events set data = replace(data, '"id"', '"Id"') where stream = $1 and revision = 1 returning id`,
      stream(),
    );
    const report = await verify(deps());
    expect(report.clean).to.equal(false);
    expect(report.log).to.have.length(1);
    expect(report.log[0]).to.include({
      what: 'hash',
      stream: stream(),
      revision: 1,
      event: changed.rows[0].id,
    });
    expect(report.readModels).to.deep.equal([
      {
        projection: 'history',
        table: 'version',
        key: { id: observation, version: 1 },
        what: 'changed',
        columns: ['body'],
        changes: [
          { path: 'body.id', after: JSON.stringify(observation) },
          { path: 'body.Id', before: JSON.stringify(observation) },
        ],
        record: patient,
      },
    ]);
  });

  it('names an event whose metadata were changed', async () => {
    await sql(
      `update log.events set metadata = replace(metadata, 'key_made', 'key_else') where stream = $1 and revision = 2`,
      stream(),
    );
    const report = await verify(deps());
    expect(report.log.map(({ what, revision }) => [what, revision])).to.deep.equal([['hash', 2]]);
    expect(report.readModels).to.deep.equal([
      {
        projection: 'history',
        table: 'version',
        key: { id: patient, version: 2 },
        what: 'changed',
        columns: ['metadata'],
        changes: [{ path: 'metadata.credential.key_id', before: '"key_else"', after: '"key_made"' }],
        record: patient,
      },
    ]);
  });

  it('names events that follow each other in another order than they were written', async () => {
    await sql(
      `with pair as (select revision, position from log.events where stream = $1 and revision in (1, 2))
       update log.events e set position = -pair.position from pair where e.stream = $1 and e.revision = 3 - pair.revision`,
      stream(),
    );
    await sql('update log.events set position = -position where position < 0');
    const report = await verify(deps());
    expect(report.log.map(({ what, revision }) => [what, revision])).to.deep.include.members([
      ['revision', 2],
      ['revision', 1],
    ]);
  });

  it('names the rows that the end of a stream left behind', async () => {
    await sql('delete from log.events where stream = $1 and revision > 2', stream());
    const report = await verify(deps());
    expect(report.log).to.deep.equal([]);
    expect(
      report.readModels.map((fault) =>
        'table' in fault ? [fault.table, fault.key.version, fault.what] : [],
      ),
    ).to.deep.include.members([
      ['version', 2, 'orphan'],
      ['version', 3, 'orphan'],
      ['resource', undefined, 'changed'],
    ]);
  });

  it('names the rows of a record that was removed without anybody having asked for it', async () => {
    await instance.store.erase(stream());
    const report = await verify(deps());
    expect(
      report.readModels.map((fault) => ('table' in fault ? [fault.table, fault.key.id, fault.what] : [])),
    ).to.deep.include.members([['resource', patient, 'orphan']]);
  });

  it('names an event that is missing, and the version with it', async () => {
    await sql('delete from log.events where stream = $1 and revision = 3', stream());
    const report = await verify(deps());
    expect(report.log.map(({ what, revision }) => [what, revision])).to.deep.equal([
      ['revision', 4],
      ['version', 4],
    ]);
    expect(report.readModels).to.deep.include.members([
      {
        projection: 'history',
        table: 'version',
        key: { id: observation, version: 2 },
        what: 'orphan',
        record: patient,
      },
    ]);
  });

  it('names events that changed places', async () => {
    await sql(
      `with pair as (select revision, data, type, id, metadata from log.events where stream = $1 and revision in (0, 1))
       update log.events e set data = pair.data, type = pair.type, metadata = pair.metadata
         from pair where e.stream = $1 and e.revision = 1 - pair.revision`,
      stream(),
    );
    const report = await verify(deps());
    expect(
      report.log.filter(({ what }) => what === 'hash').map(({ revision }) => revision),
    ).to.include.members([0, 1]);
  });

  it('names an event that cannot be read, and what cannot be derived because of it', async () => {
    await sql(`update log.events set type = 'NeverHeardOf' where stream = $1 and revision = 2`, stream());
    const report = await verify(deps());
    expect(report.log.map(({ what, revision }) => [what, revision])).to.deep.include.members([
      ['hash', 2],
      ['form', 2],
    ]);
    expect(report.readModels.map(({ projection, what }) => [projection, what])).to.have.deep.members([
      ['resources', 'underivable'],
      ['search', 'underivable'],
      ['history', 'underivable'],
      ['timeline', 'underivable'],
      ['consents', 'underivable'],
    ]);
  });

  it('names rows that were changed, removed or added', async () => {
    const stranger = newUuid();
    await sql(`update history.version set metadata = '{}' where id = $1 and version = 2`, observation);
    await sql('delete from history.version where id = $1 and version = 3', observation);
    await sql(`update resources.resource set deleted = false where id = $1`, observation);
    await sql(`delete from search.entry where id = $1`, patient);
    await sql(
      `insert into history.version select $1, version, type, tenant, record, recorded_at, gen_random_uuid(), operation, agents,
         categories, targets, metadata, body from history.version where id = $2 and version = 1`,
      stranger,
      patient,
    );
    await sql(`update projects.project set name = 'Other'`);
    const { readModels, log } = await verify(deps());
    expect(log).to.deep.equal([]);
    const named = readModels.map((fault) =>
      'table' in fault
        ? [fault.table, fault.key.id, fault.key.version, fault.what, fault.columns?.join()]
        : [fault.what],
    );
    expect(named).to.have.deep.members([
      ['resource', observation, undefined, 'changed', 'deleted'],
      ['version', observation, 2, 'changed', 'metadata'],
      ['version', observation, 3, 'missing', undefined],
      ['version', stranger, 1, 'orphan', undefined],
      ['project', TENANT.project, undefined, 'changed', 'name'],
      ['entry', patient, undefined, 'missing', undefined],
    ]);
  });

  it('names rows of Provenances that were changed, removed or added', async () => {
    const [mine, other, stranger] = [newUuid(), newUuid(), newUuid()];
    const said = {
      target: [{ reference: `Patient/${patient}` }],
      recorded: '2026-01-01T00:00:00Z',
      agent: [{ who: { reference: 'Practitioner/1' } }],
    };
    await instance.shown(
      await streams.record(patient, created('Provenance', mine, said), created('Provenance', other, said)),
    );
    await sql(`update history.client_provenance set agents = '{}' where id = $1`, mine);
    await sql('delete from history.client_provenance where id = $1', other);
    await sql(
      `insert into history.client_provenance select $1, version, tenant, record, recorded, last_updated, targets, agents, deleted
         from history.client_provenance where id = $2`,
      stranger,
      mine,
    );
    const { readModels, log } = await verify(deps());
    expect(log).to.deep.equal([]);
    expect(
      readModels.map((fault) =>
        'table' in fault ? [fault.table, fault.key.id, fault.what, fault.columns?.join()] : [],
      ),
    ).to.have.deep.members([
      ['client_provenance', mine, 'changed', 'agents'],
      ['client_provenance', other, 'missing', undefined],
      ['client_provenance', stranger, 'orphan', undefined],
    ]);
  });

  it('leaves nothing behind when it is stopped', async () => {
    const stopped = await verify(deps(), { signal: AbortSignal.abort() }).catch((error: unknown) => error);
    expect(stopped).to.be.instanceOf(Error).with.property('message', 'verification was interrupted');
    const left = await sql(`select 1 from pg_namespace where nspname like '%\\_verify'`);
    expect(left.rowCount).to.equal(0);
  });

  it('names an erased record that still has events', async () => {
    await instance.shown(await streams.project(erased(patient)));
    const report = await verify(deps());
    expect(report.log.map(({ what, message }) => [what, message])).to.deep.equal([
      ['erasure', `record ${patient} was erased but still has events`],
    ]);
    expect(report.readModels).to.deep.equal([]);
  });

  it('says how far read models are that lag, compares them up to there, and takes it for no fault', async () => {
    await instance.projector.stop();
    await streams.record(patient, created('Observation', newUuid()), created('Observation', newUuid()));
    const report = await verify(deps(), { catchUpMs: 0 });
    expect(report.readModels).to.deep.equal([]);
    expect(report.clean).to.equal(true);
    const behind = report.lagging.map(({ projection, behind }) => [projection, behind]);
    for (const name of ['resources', 'search', 'history', 'timeline'])
      expect(behind).to.deep.include([name, 2]);
    expect(report.lagging.every(({ compared }) => compared)).to.equal(true);
    await sql(`update resources.resource set body = replace(body, '"id"', '"Id"') where id = $1`, patient);
    const altered = await verify(deps(), { catchUpMs: 0 });
    expect(altered.clean).to.equal(false);
    expect(altered.readModels).to.have.length(1);
    expect(altered.readModels[0]).to.include({ projection: 'resources', what: 'changed' });
    expect(altered.lagging).to.deep.equal(report.lagging);
  });

  it('names the event that read models cannot apply, for which they lag', async () => {
    await instance.projector.stop();
    await streams.record(patient, created('Observation', newUuid()));
    await sql(
      `update log.events set data = '{"resource":{}}' where position = (select max(position) from log.events)`,
    );
    const report = await verify(deps(), { catchUpMs: 0 });
    expect(report.log.map(({ what }) => what)).to.include('hash');
    expect(report.readModels.map(({ projection, what }) => [projection, what])).to.deep.include([
      'resources',
      'underivable',
    ]);
  });
});

describe('a stop', () => {
  it('waits for the read models that this instance writes, and no longer than it may', async () => {
    const database = await createDatabase();
    const instance = await startInstance(database.url);
    const locker = await database.pool.connect();
    try {
      const { store, projector, progress } = instance;
      const streams = new Streams(store);
      const patient = newUuid();
      await instance.shown(await streams.record(patient, created('Patient', patient)));
      await locker.query('begin; lock table timeline.entry');
      const position = await streams.record(patient, created('Observation', newUuid()));
      expect(await drainProjections({ store, projector, progress }, 300)).to.deep.equal(['timeline']);
      const waiting = drainProjections({ store, projector, progress }, 20_000);
      await locker.query('commit');
      expect(await waiting).to.deep.equal([]);
      expect(await progress.waitFor(position, ['resources', 'timeline'], 0)).to.equal(true);
      await projector.stop();
      expect((await verify({ store, databaseUrl: database.url }, { catchUpMs: 0 })).lagging).to.deep.equal(
        [],
      );
    } finally {
      locker.release();
      await instance.stop();
      await database.drop();
    }
  });

  it('lets no stopped process write more', async () => {
    const database = await createDatabase();
    const instance = await startInstance(database.url);
    try {
      const appends = endableAppends(instance.store);
      const streams = new Streams(appends.store);
      const patient = newUuid();
      const first = streams.record(patient, created('Patient', patient));
      await appends.end();
      expect(await instance.store.head()).to.equal(await first);
      const refused = await streams
        .record(patient, created('Observation', newUuid()))
        .catch((error: unknown) => error);
      expect(refused).to.include({ kind: 'unavailable' });
    } finally {
      await instance.stop();
      await database.drop();
    }
  });
});
