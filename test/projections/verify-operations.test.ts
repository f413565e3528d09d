/**
 * Data derived from events in the schema `operations`, and duplicate ids: if they are tampered with, verification finds and
 * names them.
 */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { SNAPSHOT_VERSION } from '#src/events/snapshot-version.ts';
import { PostgresSnapshots } from '#src/operations/snapshots.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { everyNth } from '#test/support/scale.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, deleted, Streams, TENANT, updated } from './made.ts';

describe('verify, of what operations keep', () => {
  let database: TestDatabase;
  let instance: Instance;
  let patient: string;
  let observation: string;

  before(async () => {
    database = await createMigratedDatabase();
    instance = await startInstance(database.url);
    const streams = new Streams(instance.store);
    [patient, observation] = [newUuid(), newUuid()];
    await streams.record(patient, created('Patient', patient), created('Observation', observation));
    await streams.record(patient, updated('Patient', patient, 2), deleted('Observation', observation, 2));
    const snapshots = new PostgresSnapshots(database.pool);
    const head = { revision: 3, hash: '' };
    for await (const event of instance.store.read(`record-${patient}`)) {
      const { hash, recorded_at } = JSON.parse(event.metadata) as { hash: string; recorded_at: string };
      if (event.revision !== head.revision) continue;
      const entries = new Map([
        [patient, { type: 'Patient', version: 2, deleted: false, revision: 2 }],
        [observation, { type: 'Observation', version: 2, deleted: true, revision: 3 }],
      ]);
      const state = {
        fold: SNAPSHOT_VERSION,
        head: { ...head, hash },
        recordedAt: toMicros(recorded_at),
        owner: TENANT,
      };
      await snapshots.save(event.stream, state, entries, -1);
    }
    // A snapshot isn't affected by later events.
    const last = await streams.record(
      patient,
      updated('Patient', patient, 3),
      created('Observation', newUuid()),
    );
    await database.pool.query(
      `insert into operations.parked select 'erasure', stream, revision, position::text, id, 'no', 6, now(), now()
         from log.events where revision = 1`,
    );
    await instance.shown(last);
  });
  after(async () => {
    await instance.stop();
    await database.drop();
  });

  const found = async () => {
    const report = await verify({ store: instance.store, databaseUrl: database.url });
    expect(report.clean).to.equal(
      report.operations.length + report.log.length + report.readModels.length === 0,
    );
    return report;
  };
  /** Returns what is found after one statement; a second statement then undoes the first. */
  const foundAfter = async (change: string, back: string) => {
    const values = change.includes('$1') ? [patient] : [];
    await database.pool.query(change, values);
    const { operations } = await found();
    await database.pool.query(back, back.includes('$1') ? [patient] : []);
    return operations.map(({ table, what }) => `${table} ${what}`);
  };

  it('finds nothing where nothing is wrong', async () => {
    const { clean, operations } = await found();
    expect(operations).to.deep.equal([]);
    expect(clean).to.equal(true);
  });

  const keep = 'create table kept as select * from operations';
  for (const [says, table, change, expected] of everyNth(
    [
      ['a hash', 'snapshot', "update operations.snapshot set hash = repeat('0', 64)", ['snapshot changed']],
      ['an owner', 'snapshot', "update operations.snapshot set project = 'proj_other'", ['snapshot changed']],
      [
        'a version',
        'snapshot_entry',
        'update operations.snapshot_entry set version = 7',
        ['snapshot_entry changed', 'snapshot_entry changed'],
      ],
      [
        'a status',
        'snapshot_entry',
        "update operations.snapshot_entry set deleted = false where type = 'Observation'",
        ['snapshot_entry changed'],
      ],
      [
        'a resource left out',
        'snapshot_entry',
        "delete from operations.snapshot_entry where type = 'Patient'",
        ['snapshot_entry missing'],
      ],
      [
        'a resource made up',
        'snapshot_entry',
        "update operations.snapshot_entry set id = 'other' where type = 'Patient'",
        ['snapshot_entry missing', 'snapshot_entry orphan'],
      ],
      [
        'a revision beyond the end',
        'snapshot',
        'update operations.snapshot set revision = 99',
        ['snapshot orphan', 'snapshot_entry changed', 'snapshot_entry missing'],
      ],
      [
        'a parked event of another id',
        'parked',
        'update operations.parked set event_id = gen_random_uuid()',
        ['parked changed'],
      ],
      [
        'a parked event that is not',
        'parked',
        'update operations.parked set revision = 77',
        ['parked orphan'],
      ],
      [
        'a process beyond the end',
        'process',
        "insert into operations.process values ('ahead', '9000000000000000')",
        ['process orphan'],
      ],
    ] as const,
    3,
  )) {
    it(`finds ${says}`, async () => {
      await database.pool.query(`${keep}.${table}`);
      const seen = await foundAfter(
        change,
        `truncate operations.${table}; insert into operations.${table} select * from kept; drop table kept`,
      );
      expect(seen.sort()).to.deep.equal([...expected].sort());
    });
  }

  it('finds an event id that stands in two streams', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      'select id from log.events where revision = 1',
    );
    const other = newUuid();
    const position = await new Streams(instance.store).record(other, created('Patient', other));
    await instance.shown(position);
    await database.pool.query('update log.events set id = $1 where stream = $2', [
      rows[0]?.id,
      `record-${other}`,
    ]);
    const { log } = await found();
    expect(log.filter(({ what }) => what === 'id')).to.have.length(1);
    expect(log.find(({ what }) => what === 'id')).to.include({ event: rows[0]?.id });
  });
});
