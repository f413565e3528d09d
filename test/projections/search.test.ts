import { expect } from 'chai';
import { runAll } from '#projections/rows.ts';
import { search } from '#projections/search/project.ts';
import { inTransaction, openSession } from '#projections/session.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, deleted, erased, stored, TENANT, updated } from './made.ts';

describe('the read model search', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, [search]);
  });
  after(() => database.drop());

  /** Projects batches of events, each one transaction, into the serving tables or by `load`. */
  async function project(batches: readonly ReturnType<typeof stored>[], load = false): Promise<void> {
    const session = await openSession(database.url, { name: 'test' });
    for (const batch of batches) {
      await inTransaction(session, () =>
        load ? search.load(session, 'search', batch) : runAll(session, search.statements('search', batch)),
      );
    }
    await session.end();
  }

  /** What is there of a resource, without its id. */
  async function shown(id: string): Promise<unknown> {
    const rows = async (columns: string, table: string) =>
      (
        await database.pool.query(`select ${columns} from search.${table} where id = $1 order by 1, 2, 3`, [
          id,
        ])
      ).rows;
    return [
      await rows('version, cardinality(keys), record is null', 'entry'),
      await rows('key, folded, exact', 'string'),
      await rows('key, low, high', 'period'),
    ];
  }

  const patient = (id: string) => {
    const name = (family: string) => ({ name: [{ family }, { family }], birthDate: '1980-01-02' });
    return stored(recordStream(id), [
      created('Patient', id, { ...name('One'), gender: 'male' }),
      updated('Patient', id, 2, name('Two')),
      updated('Patient', id, 3, { ...name('Three'), active: true }),
    ]);
  };

  it('is the same however batches are cut, repeated, or loaded', async () => {
    const outcomes: unknown[] = [];
    for (const cut of [[3], [1, 3], [1, 2, 3], [2, 3], [1, 2, 3, 0, 1, 3]]) {
      for (const load of [false, true]) {
        // A rebuild takes every event once.
        if (load && cut.length > 3) continue;
        const id = newUuid();
        const events = patient(id);
        const batches = cut.map((to, at) =>
          events.slice(to < (cut[at - 1] ?? 0) ? 0 : (cut[at - 1] ?? 0), to),
        );
        await project(batches, load);
        outcomes.push(await shown(id));
      }
    }
    for (const outcome of outcomes) expect(outcome).to.deep.equal(outcomes[0]);
    expect(outcomes[0]).to.have.nested.property('[0][0].version', 3);
    expect(outcomes[0]).to.have.nested.property('[1][0].folded', 'three');
  });

  it('finds a deleted resource by nothing, and never takes an older version back', async () => {
    const id = newUuid();
    const events = stored(recordStream(id), [
      created('Patient', id, { birthDate: '1980-01-02' }),
      deleted('Patient', id, 2),
    ]);
    await project([events, events.slice(0, 1)]);
    expect(await shown(id)).to.deep.equal([[{ version: 2, cardinality: 1, '?column?': false }], [], []]);
  });

  it('keeps nothing of an erased record, and all of others', async () => {
    const [gone, kept] = [newUuid(), newUuid()];
    await project([patient(gone), patient(kept)]);
    await project([stored(projectStream(TENANT.project), [erased(gone)])]);
    expect(await shown(gone)).to.deep.equal([[], [], []]);
    expect(await shown(kept)).to.have.nested.property('[1][0].folded', 'three');
  });
});
