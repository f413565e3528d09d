/**
 * The read model `timeline`: the rows are the same however events are divided into batches; totals match the rows; erasure
 * leaves nothing.
 */
import { expect } from 'chai';
import { runAll } from '#projections/rows.ts';
import { openSession } from '#projections/session.ts';
import { schemaSql } from '#projections/tables.ts';
import { timeline } from '#projections/timeline/project.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { bucketNumber } from '#src/shared/time/time-bucket.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, deleted, erased, made, stored, updated } from './made.ts';

const LOINC = 'http://loinc.org';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
const glucose = (effectiveDateTime: string, rest: object = {}) => ({
  status: 'final',
  code: { coding: [{ system: LOINC, code: '2339-0', display: 'Glucose' }] },
  category: [{ coding: [{ system: CATEGORY, code: 'laboratory' }] }],
  effectiveDateTime,
  ...rest,
});

describe('the read model timeline', () => {
  let database: TestDatabase;
  const patient = newUuid();
  const [kept, moved, gone, wrong, back] = [newUuid(), newUuid(), newUuid(), newUuid(), newUuid()];
  const events = stored(recordStream(patient), [
    created('Patient', patient, {}),
    created('Observation', kept, glucose('2020-01-05')),
    created('Observation', moved, glucose('2020-01-06')),
    updated('Observation', moved, 2, glucose('2020-01-06', { note: [{ text: 'again' }] })),
    updated('Observation', moved, 3, glucose('2024-06-01')),
    created('Observation', gone, glucose('2020-01-07')),
    deleted('Observation', gone, 2),
    created('Observation', wrong, glucose('2020-01-08')),
    updated('Observation', wrong, 2, glucose('2020-01-08', { status: 'entered-in-error' })),
    created('Observation', back, glucose('2020-01-09')),
    updated('Observation', back, 2, glucose('2021-01-09')),
    updated('Observation', back, 3, glucose('2020-01-09')),
    updated('Observation', back, 4, glucose('2020-01-09', { note: [{ text: 'again' }] })),
    updated('Observation', back, 5, glucose('2021-01-09')),
    created('Condition', newUuid(), { verificationStatus: { coding: [{ code: 'refuted' }] } }),
  ]);
  const end = stored(`project-${newUuid()}`, [erased(patient)]);

  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  /** Returns the rows of all tables after the given batches, each in one transaction. */
  async function rowsAfter(
    schema: string,
    batches: readonly (readonly (typeof events)[number][])[],
    bring: 'statements' | 'load' = 'statements',
  ): Promise<Record<string, object[]>> {
    const session = await openSession(database.url, { name: 'test' });
    try {
      await session.query(`drop schema if exists ${schema} cascade`);
      await session.query(schemaSql(timeline, schema));
      for (const batch of batches) {
        await session.query('begin');
        if (bring === 'load') await timeline.load(session, schema, batch);
        else await runAll(session, timeline.statements(schema, batch));
        await session.query('commit');
      }
      const rows: Record<string, object[]> = {};
      for (const table of timeline.compared) {
        rows[table] = (await session.query(`select t.* from ${schema}.${table} t order by t::text`)).rows;
      }
      return rows;
    } finally {
      await session.end();
    }
  }

  it('has the same rows however the events are cut, repeated or loaded', async () => {
    const once = await rowsAfter('timeline', [events]);
    const each = events.map((event) => [event]);
    expect(await rowsAfter('one_by_one', each)).to.deep.equal(once);
    expect(await rowsAfter('again', [events, ...each, events])).to.deep.equal(once);
    expect(await rowsAfter('loaded', [events], 'load')).to.deep.equal(once);
    expect(await rowsAfter('loaded_one_by_one', each, 'load')).to.deep.equal(once);
    expect(once.entry).to.have.length(14);
  });

  it('leaves a version in the places of the one before, unless it belongs elsewhere', async () => {
    const { place = [] } = await rowsAfter('timeline', [events]);
    const versions = (id: string): Set<string> => {
      const own = (place as { id: string; version: number; until: string | null }[]).filter(
        (p) => p.id === id,
      );
      return new Set(own.map(({ version, until }) => `${version}${until === null ? '' : ' ended'}`));
    };
    expect(versions(moved)).to.have.keys('1 ended', '3');
    expect(versions(back)).to.have.keys('1 ended', '2 ended', '3 ended', '5');
  });

  it('counts what stands in each list now', async () => {
    const { place = [], tally = [] } = await rowsAfter('timeline', [events]);
    const counted = new Map<string, number>();
    for (const { list, at, until } of place as { list: string; at: number; until: number | null }[]) {
      const key = `${list} ${bucketNumber(at)}`;
      counted.set(key, (counted.get(key) ?? 0) + (until === null ? 1 : 0));
    }
    const tallied = (tally as { list: string; stretch: number; count: number }[]).map(
      ({ list, stretch, count }) => [`${list} ${stretch}`, count] as const,
    );
    expect(Object.fromEntries(tallied)).to.deep.equal(Object.fromEntries(counted));
    expect([...counted.values()].filter((count) => count > 0)).to.have.length.above(5);
  });

  it('leaves nothing of an erased record, and all of another', async () => {
    const other = newUuid();
    const others = stored(recordStream(other), [
      created('Patient', other, {}),
      created('Observation', newUuid(), glucose('2020-01-05')),
    ]);
    const alone = await rowsAfter('other', [others]);
    expect(await rowsAfter('timeline', [events, others, end])).to.deep.equal(alone);
  });

  it('refuses an event that names no owner', () => {
    const homeless = stored(recordStream(patient), [
      made(
        {
          type: 'ResourceCreated',
          resourceType: 'Goal',
          resourceId: newUuid(),
          version: 1,
          body: '{"resourceType":"Goal"}',
        },
        { owner: undefined },
      ),
    ]);
    expect(() => timeline.statements('timeline', homeless)).to.throw('its metadata has no owner');
  });
});
