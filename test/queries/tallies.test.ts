/** Which searches look up their total in a tally, and how many tallies the read model stores. */
import { expect } from 'chai';
import { runAll } from '#projections/rows.ts';
import { search as searchModel } from '#projections/search/project.ts';
import { TALLY_LIMITS, Tallies } from '#projections/search/tallies.ts';
import { inTransaction, openSession } from '#projections/session.ts';
import { prepareReadModels } from '#projections/tables.ts';
import type { Asks } from '#queries/database/prepared.ts';
import { openSearch } from '#queries/search/search.ts';
import { openTallies } from '#queries/search/tallies.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { searchKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { MOST_KEYS, readAsk, TALLIES, writeAsk } from '#src/fhir/search/tallies.ts';
import { parseAccess } from '#src/oauth/tokens/access.ts';
import { type Caller, ownCaller, type Sees } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, deleted, erased, stored, TENANT, until, updated } from '../projections/made.ts';

const own = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
const RECORD = newUuid();

/** Returns the statements of a search with the given number of matches, with or without tallies. */
async function statements(
  query: string,
  { sees = {}, record, total = 50_000, isTallied = true }: Options = {},
): Promise<{ readonly text: string; readonly values: unknown[] }[]> {
  const sent: { text: string; values: unknown[] }[] = [];
  const asks = {
    async query(statement: Parameters<Asks['query']>[0]) {
      sent.push(statement);
      // Each step claims to have omitted rows, so that all steps run.
      const counts = !statement.text.includes('null::int8 as total');
      return { rows: [{ total: counts ? total : null, over: true, rows: null, count: total }] };
    },
  } as unknown as Asks;
  const caller: Caller = { ...own, sees: { ...own.sees, ...sees } };
  const tallies = isTallied ? openTallies(asks) : undefined;
  const search = openSearch(asks, undefined, undefined, tallies);
  const request = {
    type: 'Observation',
    query: new URLSearchParams(query),
    base: 'http://localhost/',
  } as const;
  await search(caller, { ...request, ...(record === undefined ? {} : { record }) });
  return sent;
}

interface Options {
  readonly sees?: Partial<Sees>;
  readonly record?: string;
  readonly total?: number;
  readonly isTallied?: boolean;
}

const looksUp = async (query: string, options?: Options): Promise<boolean> =>
  (await statements(query, options)).some(({ text }) => text.includes('search.tally'));
const asksFor = async (query: string, options?: Options): Promise<unknown[]> =>
  (await statements(query, options)).flatMap(({ text, values }) =>
    text.includes('pg_notify') ? [readAsk(String(values[1]))] : [],
  );

describe('totals by tallies', () => {
  for (const query of [
    'code=a',
    'code=urn:s|a',
    'code=urn:s|',
    'category=laboratory&_sort=-date',
    'status=final&code=a',
    'status=final&code=a&category=laboratory&_sort=-_lastUpdated',
    'code=a&_sort=status',
    'code=a&_summary=count',
    'code:missing=false',
  ]) {
    it(`are looked up for ${query}`, async () => {
      expect(await looksUp(query)).to.equal(true);
      expect(await looksUp(query, { isTallied: false })).to.equal(false);
      const [asked, ...more] = await asksFor(query);
      expect(asked).to.include({ tenant: own.sees.ownerId, type: 'Observation' });
      expect(more).to.deep.equal([]);
      expect(await asksFor(query, { total: 9_999 })).to.deep.equal([]);
    });
  }

  for (const query of [
    '',
    'code=a&_total=none',
    'code=a,b',
    'code:not=a',
    'code:missing=true',
    'code:text=a',
    'code=a&date=ge2020',
    'code=a&_lastUpdated=ge2020',
    'code=a&value-quantity=gt5',
    `code=a&patient=${RECORD}`,
    `code=a&patient=${RECORD},${newUuid()}`,
    `code=a&_id=${newUuid()}`,
    'code=a&patient.name=x',
    'code-value-quantity=a$gt5',
    'code=a&code=b&status=final&category=laboratory',
  ]) {
    it(`are counted for ${query === '' ? 'a type' : query}`, async () => {
      expect(await looksUp(query)).to.equal(false);
      expect(await asksFor(query)).to.deep.equal([]);
    });
  }

  it('are counted in one record, under a grant, and as of a moment', async () => {
    const access = parseAccess(['patient/*.rs']);
    const within = { record: RECORD, patient: RECORD, access, purpose: null };
    for (const options of [
      { record: RECORD },
      { sees: { within } as unknown as Partial<Sees> },
      { sees: { asOf: 1 } as unknown as Partial<Sees> },
    ]) {
      expect(await looksUp('code=a', options)).to.equal(false);
      expect(await asksFor('code=a', options)).to.deep.equal([]);
    }
  });

  it('are asked for once a minute', async () => {
    const sent: unknown[] = [];
    const asks = { query: async (statement: unknown) => sent.push(statement) } as unknown as Asks;
    const tallies = openTallies(asks);
    const selection = { type: 'Observation', tenant: own.sees.ownerId, tallied: true } as const;
    const predicate = (key: string) => Object.assign(() => '', { keys: [key], ofEntry: true });
    for (const key of ['1', '1', '2']) tallies.ask({ ...selection, predicates: [predicate(key)] });
    expect(sent).to.have.length(2);
  });
});

describe('requests for tallies', () => {
  it('are read as they are written, and nothing else is', () => {
    const tenant = newUuid();
    const keys = ['-9223372036854775808', '12', '5'];
    expect(keys).to.have.length(MOST_KEYS);
    expect(readAsk(writeAsk(tenant, 'Observation', keys))).to.deep.equal({
      tenant,
      type: 'Observation',
      keys: '{-9223372036854775808,12,5}',
    });
    for (const text of ['', `${tenant} Observation`, `x Observation {1}`, `${tenant} Observation {1,2,3,4}`])
      expect(readAsk(text), text).to.equal(undefined);
    for (const keys of ['{}', '{x}', '{1', '{1} ', "{1}'"])
      expect(readAsk(`${tenant} Observation ${keys}`), keys).to.equal(undefined);
  });
});

describe('tallies of the read model search', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, [searchModel]);
  });
  after(() => database.drop());

  const make = function* () {
    yield;
    return [];
  };
  const rows = async () =>
    (
      await database.pool.query(
        `select keys::text, counted is not null as counted from search.tally order by tenant, keys`,
      )
    ).rows.map(({ keys, counted }) => (counted ? keys : `${keys} not counted`));

  const key = searchKey(valueKey(own.sees.ownerId, 'Observation', 'status', tokenForm.code('final')));
  const differing = async () =>
    (
      await database.pool.query(
        `select t.counted + t.changed as tally, (select count(*) from search.entry e where e.keys @> t.keys) as count
           from search.tally t`,
      )
    ).rows;

  it('are the same however batches are cut, repeated, or late', async () => {
    const session = await openSession(database.url, { name: 'test' });
    const patient = newUuid();
    const [one, two] = [newUuid(), newUuid()];
    const [final, amended] = [{ status: 'final' }, { status: 'amended' }];
    const events = stored(recordStream(patient), [
      created('Observation', one, final),
      created('Observation', two, amended),
      updated('Observation', one, 2, amended),
      updated('Observation', two, 2, final),
      updated('Observation', two, 3, { ...final, note: [{ text: 'x' }] }),
      updated('Observation', one, 3, final),
      deleted('Observation', one, 4),
    ]);
    const end = stored(projectStream(TENANT.project), [erased(patient)]);
    await database.pool.query('insert into search.tally (tenant, type, keys) values ($1, $2, $3)', [
      own.sees.ownerId,
      'Observation',
      [key],
    ]);
    const kept = await searchModel.keep?.(session, database.url);
    await until(async () => (await rows()).join() === `{${key}}`);
    const found: unknown[] = [];
    for (const batch of [
      ...[events.slice(0, 1), events.slice(0, 2), events.slice(0, 1), events.slice(1, 3), events.slice(0, 4)],
      ...[
        events.slice(2, 6),
        events.slice(5),
        events,
        events.slice(0, 1),
        events.slice(0, 3),
        end,
        end,
        [...events.slice(0, 2), ...end],
      ],
    ]) {
      const statements = await inSlices(kept?.inSteps('search', batch) ?? make());
      await inTransaction(session, () => runAll(session, statements));
      const [{ tally, count } = { tally: '', count: '0' }] = await differing();
      expect(tally).to.equal(count);
      found.push(Number(count));
    }
    expect(found).to.deep.equal([1, 1, 1, 0, 1, 2, 1, 1, 1, 1, 0, 0, 0]);
    await kept?.close();
    await session.end();
    await database.pool.query('delete from search.tally');
  });

  it('are counted beside a batch that isn’t committed yet', async () => {
    const session = await openSession(database.url, { name: 'test' });
    const batch = await openSession(database.url, { name: 'test' });
    await session.query('insert into search.tally (tenant, type, keys) values ($1, $2, $3)', [
      own.sees.ownerId,
      'Observation',
      [key],
    ]);
    await batch.query(`begin; update search.tally set changed = changed + 1;
      insert into search.entry (id, version, keys, targets) values ('${newUuid()}', 1, '{${key}}', '{}')`);
    const tallies = await Tallies.open(session, database.url, make);
    await until(async () => {
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where application_name = 'annal tallies' and wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    });
    await batch.query('commit');
    await until(async () => (await rows()).join() === `{${key}}`);
    expect(await differing()).to.deep.equal([{ tally: 1, count: 1 }]);
    await tallies.close();
    await session.end();
    await batch.end();
    await database.pool.query('delete from search.tally');
  });

  it('are at most so many for a project, of which unused ones make room and go', async () => {
    const [one, other] = ['00000000-0000-7000-a000-000000000001', '00000000-0000-7000-a000-000000000002'];
    const session = await openSession(database.url, { name: 'test' });
    const open = (limits: { readonly sparedMs?: number; readonly unusedMs?: number }) =>
      Tallies.open(session, database.url, make, { ...TALLY_LIMITS, most: 2, ...limits });
    const ask = async (tenant: string, ...keys: string[]) => {
      for (const key of keys)
        await database.pool.query('select pg_notify($1, $2)', [TALLIES, writeAsk(tenant, 'Patient', [key])]);
    };
    /** Processes requested tallies until the tables contain the wanted rows. */
    const take = (tallies: Tallies, wanted: string) =>
      until(async () => {
        await session.query('select');
        if (tallies.isDue) await tallies.take();
        return (await rows()).join() === wanted;
      });
    const spared = await open({});
    await ask(one, '1', '2', '3', 'x');
    await ask(other, '4');
    await take(spared, '{1},{2},{4}');
    await spared.close();

    const making = await open({ sparedMs: 0 });
    await ask(one, '2', '3');
    await take(making, '{2},{3},{4}');
    await making.close();

    const lapsing = await open({ unusedMs: -1 });
    await ask(one, '2');
    await take(lapsing, '');
    await lapsing.close();
    await session.end();
  });
});
