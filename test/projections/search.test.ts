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

  /** Projects batches of events, each in one transaction, to the serving tables or by `load`. */
  async function project(batches: readonly ReturnType<typeof stored>[], load = false): Promise<void> {
    const session = await openSession(database.url, { name: 'test' });
    for (const batch of batches) {
      await inTransaction(session, () =>
        load ? search.load(session, 'search', batch) : runAll(session, search.statements('search', batch)),
      );
    }
    await session.end();
  }

  /** Returns the rows of a resource, without its id. */
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
        // A rebuild reads every event once.
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

  it('writes only the values of a new version that changed, those that are there twice included', async () => {
    const id = newUuid();
    const version = (family: string) => ({
      name: [{ family }],
      maritalStatus: { text: 'Alone' },
      communication: [{ language: { text: 'Same' } }, { language: { text: 'SAME' } }],
      birthDate: '1980-01-02',
    });
    const rows = async () =>
      (
        await database.pool.query<{ value: string; row: string }>(
          `select folded as value, ctid::text as row from search.string where id = $1
           union all select low::text, ctid::text from search.period where id = $1 order by 1, 2`,
          [id],
        )
      ).rows;
    const [first, second] = stored(recordStream(id), [
      created('Patient', id, version('One')),
      updated('Patient', id, 2, version('Two')),
    ]);
    if (first === undefined || second === undefined) throw new Error('two events');
    await project([[first]]);
    const before = await rows();
    await project([[second]]);
    const after = await rows();
    const kept = before.filter(({ value }) => value !== 'one');
    expect(kept.filter(({ value }) => value === 'same')).to.have.length(2);
    expect(after.filter(({ value }) => value !== 'two')).to.deep.equal(kept);
    expect(after.filter(({ value }) => value === 'two')).not.to.deep.equal([]);
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

  it('has the contained resources of the current version alone, however batches are cut or repeated', async () => {
    const inside = (id: string, family: string) => ({ resourceType: 'Practitioner', id, name: [{ family }] });
    const request = (...contained: object[]) => ({
      contained,
      requester: { reference: '#a' },
      performer: { reference: '#b' },
    });
    const outcomes: unknown[] = [];
    for (const cut of [[4], [1, 4], [1, 2, 3, 4], [2, 4], [1, 3, 4, 0, 1, 4], [1, 2, 1, 2, 3, 4]]) {
      for (const load of [false, true]) {
        if (load && cut.length > 4) continue;
        const [id, record] = [newUuid(), newUuid()];
        const events = stored(recordStream(record), [
          created('MedicationRequest', id, request(inside('a', 'One'), inside('b', 'Gone'))),
          updated('MedicationRequest', id, 2, {}),
          updated('MedicationRequest', id, 3, request(inside('a', 'Two'))),
          updated('MedicationRequest', id, 4, request(inside('a', 'Three'), inside('b', 'Four'))),
        ]);
        let before = 0;
        const batches = cut.map((to) => {
          const from = to <= before ? to - 1 : before;
          before = to;
          return events.slice(Math.max(0, from), to);
        });
        await project(batches, load);
        const { rows } = await database.pool.query(
          `select distinct e.version, e.record = $2 as own, s.folded from search.entry e join search.string s using (id)
           where e.container = $1 order by s.folded`,
          [id, record],
        );
        outcomes.push(rows);
        const all = await database.pool.query('select from search.entry where container = $1', [id]);
        expect(all.rowCount, cut.join()).to.equal(2);
        await project([stored(projectStream(TENANT.project), [erased(record)])]);
        const left = await database.pool.query('select from search.entry where container = $1', [id]);
        expect(left.rowCount).to.equal(0);
      }
    }
    const row = (folded: string) => ({ version: 4, own: true, folded });
    for (const outcome of outcomes) expect(outcome).to.deep.equal([row('four'), row('three')]);
  });

  it('has nothing contained in a deleted resource', async () => {
    const [id, record] = [newUuid(), newUuid()];
    const contained = [{ resourceType: 'Practitioner', id: 'a', name: [{ family: 'One' }] }];
    await project([
      stored(recordStream(record), [
        created('MedicationRequest', id, { contained, requester: { reference: '#a' } }),
        deleted('MedicationRequest', id, 2),
      ]),
    ]);
    const { rowCount } = await database.pool.query('select from search.entry where container = $1', [id]);
    expect(rowCount).to.equal(0);
  });

  it('keeps nothing of an erased record, and all of others', async () => {
    const [gone, kept] = [newUuid(), newUuid()];
    await project([patient(gone), patient(kept)]);
    await project([stored(projectStream(TENANT.project), [erased(gone)])]);
    expect(await shown(gone)).to.deep.equal([[], [], []]);
    expect(await shown(kept)).to.have.nested.property('[1][0].folded', 'three');
  });
});
