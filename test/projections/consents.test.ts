/**
 * The read model `consents`: the rows are the same however events are divided into batches, and events of other types are
 * never decoded.
 */
import { expect } from 'chai';
import { consents } from '#projections/consents/project.ts';
import { rebuild } from '#projections/rebuild/rebuild.ts';
import { resources } from '#projections/resources/project.ts';
import { runAll } from '#projections/rows.ts';
import { openSession } from '#projections/session.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { verify } from '#projections/verify/verify.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { NewerEvents } from '#src/events/newer.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import {
  erasedWith,
  expired,
  type GrantData,
  grantData,
  granted,
  linked,
  revoked,
  unlinked,
} from '#test/support/consents.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { startInstance } from './instance.ts';
import { created, made, Streams, stored, TENANT, until } from './made.ts';

/** Where batches end. A number smaller than the previous one means that the batches start over, so events are repeated. */
const CUTS = [[99], [1, 2, 3, 4, 5, 6, 7, 99], [2, 0, 4, 1, 99], [5, 99, 0, 99]];

describe('read model consents', () => {
  describe('however batches are cut or repeated', () => {
    let database: TestDatabase;
    before(async () => {
      database = await createDatabase();
      await prepareReadModels(database.pool, [consents]);
    });
    after(() => database.drop());

    async function project(events: readonly StoredEvent[], cut: readonly number[]): Promise<void> {
      const session = await openSession(database.url, { name: 'test' });
      let from = 0;
      for (const to of cut) {
        await session.query('begin');
        await runAll(session, consents.statements('consents', events.slice(Math.min(from, to), to)));
        await session.query('commit');
        from = to;
      }
      await session.end();
    }

    const rows = async (table: string, record: string) =>
      (await database.pool.query(`select * from consents.${table} where record = $1`, [record])).rows;

    it('shows who allowed whom what, and how each grant ended', async () => {
      for (const cut of CUTS) {
        const record = newUuid();
        const [old, next, third, over] = [grantData(), grantData(), grantData(), grantData()];
        const events = stored(recordStream(record), [
          granted(old),
          revoked(old, 'replaced'),
          granted(next),
          granted(third),
          revoked(third),
          granted(over),
          expired(over),
        ]);
        await project(events, cut);
        const found = new Map((await rows('grants', record)).map((row) => [row.grant_id, row]));
        const ends = [old, next, third, over].map(({ grant_id }) => found.get(grant_id)?.end_reason);
        expect(ends, `${cut}`).to.deep.equal(['replaced', null, 'patient', 'expired']);
        expect(found.get(old.grant_id)?.ended_at).to.equal(found.get(old.grant_id)?.granted_at + 1);
        expect(found.get(next.grant_id)).to.deep.include({
          record,
          application_id: 'app_diary',
          project: 'proj_diary',
          environment: 'sandbox',
          issuer: 'https://idp.example',
          subject: 'mira',
          patient: next.patient,
          pairwise_subject: 'sub_mira',
          scopes: ['patient/Observation.rs'],
          purpose: 'treatment',
          sentences: ['Read your observations'],
          ended_at: null,
          owner_project: TENANT.project,
          owner_environment: TENANT.environment,
        });
      }
    });

    it('shows links until they end', async () => {
      for (const cut of CUTS) {
        const [record, own, other] = [newUuid(), `link_${newUuid()}`, `link_${newUuid()}`];
        const events = stored(recordStream(record), [
          linked('mira', own),
          linked('father', other, 'dependent'),
          unlinked(other),
        ]);
        await project(events, cut);
        const found = await rows('links', record);
        const shown = found.map(({ link_id, relationship, reason }) => [link_id, relationship, reason]);
        expect(shown, `${cut}`).to.have.deep.members([
          [own, 'self', null],
          [other, 'dependent', 'project'],
        ]);
      }
    });

    it('keeps no person of a purged record, and of its grants what RecordErased keeps', async () => {
      for (const cut of CUTS) {
        const [record, grant] = [newUuid(), grantData()];
        const events = [
          ...stored(recordStream(record), [linked('mira'), granted(grant), revoked(grant, 'patient_purged')]),
          ...stored(projectStream(TENANT.project), [erasedWith(record, [grant])]),
        ];
        await project(events, cut);
        expect(await rows('grants', record), `${cut}`).to.deep.equal([]);
        expect(await rows('links', record), `${cut}`).to.deep.equal([]);
        const left = await database.pool.query('select * from consents.erased_grants where grant_id = $1', [
          grant.grant_id,
        ]);
        expect(Object.keys(left.rows[0])).to.deep.equal([
          'grant_id',
          'application_id',
          'granted_at',
          'ended_at',
        ]);
      }
    });
  });

  it('decodes no event of another type', async () => {
    const database = await createDatabase();
    const instance = await startInstance(database.url, { projections: [consents, resources] });
    try {
      const streams = new Streams(instance.store);
      const [record, grant] = [newUuid(), grantData()];
      const unreadable = { ...created('Patient', record), data: 'not JSON' };
      await streams.record(record, unreadable, granted(grant));
      await until(async () => (await database.pool.query('select from consents.grants')).rowCount === 1);
      await until(() => instance.state('resources') === 'failed');
      expect(instance.state('consents')).to.equal('running');
      // The checkpoint of `consents` moves past events of other types without writing a row.
      const last = await streams.record(record, unreadable);
      expect(await instance.progress.waitFor(last, ['consents'], 20_000)).to.equal(true);
      const checkpoint = async () =>
        (await database.pool.query('select position from consents.checkpoint')).rows;
      await until(async () => (await checkpoint())[0].position === last);
    } finally {
      await instance.stop();
      await database.drop();
    }
  });

  it('stops at a type of a newer version, which it may have to take', async () => {
    const database = await createDatabase();
    const newer = new NewerEvents();
    const instance = await startInstance(database.url, { projections: [consents], newer });
    try {
      const streams = new Streams(instance.store);
      const record = newUuid();
      await streams.record(record, { ...created('Patient', record), type: 'ConsentNarrowed' });
      await until(() => instance.state('consents') === 'failed');
      expect(newer.notice).to.include("doesn't know ConsentNarrowed");
    } finally {
      await instance.stop();
      await database.drop();
    }
  });

  it('is rebuilt beside while it serves, and verified against the log', async () => {
    const database = await createDatabase();
    const instance = await startInstance(database.url, { projections: [consents] });
    const deps = { store: instance.store, databaseUrl: database.url, projections: [consents] };
    const all = async () =>
      (await database.pool.query('select g::text as row from consents.grants g order by 1')).rows;
    try {
      const streams = new Streams(instance.store);
      const purged: GrantData[] = [];
      const purgedRecord = newUuid();
      for (let n = 0; n < 20; n += 1) {
        const [record, grant] = [n % 2 === 0 ? purgedRecord : newUuid(), grantData()];
        if (n % 2 === 0) purged.push(grant);
        const end = n % 3 === 0 ? [revoked(grant)] : [];
        await streams.record(record, created('Patient', newUuid()), linked(`p${n}`), granted(grant), ...end);
      }
      await instance.store.erase(recordStream(purgedRecord));
      await instance.shown(await streams.project(erasedWith(purgedRecord, purged)));
      const before = await all();
      expect(before).to.have.length(10);
      const [report] = await rebuild(deps, ['consents']);
      expect([report?.outcome, report?.differences]).to.deep.equal(['swapped', []]);
      expect(await all()).to.deep.equal(before);
      expect(await verify(deps)).to.deep.include({ clean: true });
      await database.pool.query("update consents.grants set scopes = '{patient/*.cruds}', ended_at = null");
      const { clean, readModels } = await verify(deps);
      expect(clean).to.equal(false);
      expect(readModels).to.have.length(10);
      expect(readModels[0]).to.deep.include({ projection: 'consents', table: 'grants', what: 'changed' });
    } finally {
      await instance.stop();
      await database.drop();
    }
  });

  it('takes grants of many applications in one batch', () => {
    const events = stored(
      recordStream(newUuid()),
      Array.from({ length: 3 }, () => granted(grantData())),
    );
    // One statement for the grants, and one for the list of events.
    expect(consents.statements('consents', events)).to.have.length(2);
    expect(
      consents.statements(
        'consents',
        stored('record-x', [made({ type: 'ProjectDeleted', data: { project_id: 'p' } })]),
      ),
    ).to.deep.equal([]);
  });
});
