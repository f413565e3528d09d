/** The columns that determine who can see a version under a grant: projections/owner.ts. */
import { expect } from 'chai';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { resources } from '#projections/resources/project.ts';
import { runAll } from '#projections/rows.ts';
import { inTransaction, openSession } from '#projections/session.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { timeline } from '#projections/timeline/project.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordStream } from '#src/events/streams.ts';
import { categoryKeys } from '#src/fhir/search/categories.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, deleted, stored, updated } from './made.ts';

const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';
const of = (...codes: string[]) => ({
  category: codes.map((code) => ({ coding: [{ system: SYSTEM, code }] })),
});
const keys = (...codes: string[]) =>
  categoryKeys(
    'Observation',
    codes.map((code) => ({ system: SYSTEM, code })),
  );

describe('columns that decide who sees a version', () => {
  let database: TestDatabase;
  let session: Awaited<ReturnType<typeof openSession>>;

  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, [resources, history, timeline]);
    session = await openSession(database.url, { name: 'test' });
  });
  after(async () => {
    await session.end();
    await database.drop();
  });

  async function project(
    projection: Projection,
    batches: readonly (readonly StoredEvent[])[],
    loading: boolean,
  ): Promise<void> {
    for (const batch of batches) {
      await inTransaction(session, () =>
        loading
          ? projection.load(session, projection.name, batch)
          : runAll(session, projection.statements(projection.name, batch)),
      );
    }
  }

  /** Returns all ways to divide events into batches. */
  function cuts<T>(events: readonly T[]): T[][][] {
    return Array.from({ length: 2 ** (events.length - 1) }, (_, bits) => {
      const batches: T[][] = [[]];
      events.forEach((event, n) => {
        batches.at(-1)?.push(event);
        if ((bits >> n) & 1) batches.push([]);
      });
      return batches.filter((batch) => batch.length > 0);
    });
  }

  const sight = async (table: string, id: string) => {
    const { rows } = await database.pool.query<{ categories: string | null; targets: string | null }>(
      `select categories::text, targets::text from ${table} where id = $1 order by version`,
      [id],
    );
    return rows;
  };
  const row = (...codes: string[]) => ({ categories: `{${keys(...codes).join()}}`, targets: null });

  it('are the same however batches are cut, written or loaded; a deleted version has those before it', async () => {
    for (const loading of [false, true]) {
      const [patient, id, none] = [newUuid(), newUuid(), newUuid()];
      const events = () =>
        stored(recordStream(patient), [
          created('Observation', id, of('laboratory')),
          updated('Observation', id, 2, of('vital-signs', 'laboratory')),
          deleted('Observation', id, 3),
          updated('Observation', id, 4, {}),
          deleted('Observation', id, 5),
        ]);
      await project(resources, [stored(recordStream(none), [created('Patient', none)])], loading);
      expect(await sight('resources.resource', none)).to.deep.equal([{ categories: null, targets: null }]);
      for (const batches of cuts(events())) {
        await database.pool.query('truncate resources.resource, history.version');
        await project(resources, batches, loading);
        await project(history, batches, loading);
        const versions = [row('laboratory'), row('vital-signs', 'laboratory')];
        expect(await sight('history.version', id)).to.deep.equal([
          ...versions,
          row('vital-signs', 'laboratory'),
          row(),
          row(),
        ]);
        expect(await sight('resources.resource', id)).to.deep.equal([row()]);
        await database.pool.query('truncate resources.resource');
        await project(resources, [batches.flat().slice(0, 1), batches.flat().slice(1, 3)], loading);
        expect(await sight('resources.resource', id)).to.deep.equal([row('vital-signs', 'laboratory')]);
      }
    }
  }).timeout(20_000);

  it('are the targets of a Provenance, with the version where one is named', async () => {
    const [patient, target, id] = [newUuid(), newUuid(), newUuid()];
    const events = stored(recordStream(patient), [
      created('Provenance', id, {
        recorded: '2020-02-03T04:05:06Z',
        target: [
          { reference: `Observation/${target}/_history/3` },
          { reference: `https://base.example/fhir/R4/Patient/${patient}` },
          { identifier: { value: 'x' } },
          { reference: 'https://elsewhere.example/other' },
        ],
        agent: [{ who: { reference: 'Practitioner/a' } }],
      }),
      deleted('Provenance', id, 2),
    ]);
    const expected = { categories: null, targets: `{${target}/3,${patient}}` };
    for (const projection of [resources, history])
      await project(projection, [events.slice(0, 1), events.slice(1)], false);
    expect(await sight('history.version', id)).to.deep.equal([expected, expected]);
    expect(await sight('resources.resource', id)).to.deep.equal([expected]);
  });

  it('are in the entries of the timeline', async () => {
    const [patient, id] = [newUuid(), newUuid()];
    const events = stored(recordStream(patient), [
      created('Observation', id, { ...of('laboratory'), code: { text: 'x' }, status: 'final' }),
      deleted('Observation', id, 2),
    ]);
    await project(timeline, [events], false);
    const { rows } = await database.pool.query(
      'select categories::text from timeline.entry where id = $1 order by version',
      [id],
    );
    expect(rows).to.deep.equal([{ categories: row('laboratory').categories }, { categories: null }]);
  });
});
