/**
 * Totals that are looked up match totals that are counted: in every snapshot, while runners start, stop and project random
 * events; and in searches, which list the same number of matches.
 */
import { expect } from 'chai';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { rebuild } from '#projections/rebuild/rebuild.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import { LIMITS } from '#queries/search/plan.ts';
import { openSearch, type Search } from '#queries/search/search.ts';
import { openTallies } from '#queries/search/tallies.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { ownCaller, type Tenant } from '#src/shared/access/caller.ts';
import { makeChance } from '#test/support/chance.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { randomSeed, scaled } from '#test/support/scale.ts';
import { CODES, ObservationWriter, type Shown, TENANTS } from '#test/support/search/observations.ts';
import { tell } from '#test/support/tell.ts';
import { type Instance, startInstance } from '../projections/instance.ts';
import { until } from '../projections/made.ts';

type Holds = (shown: Shown) => boolean;
const QUESTIONS: readonly (readonly [query: string, holds: Holds])[] = [
  ...CODES.map((code) => [`code=${code}`, ({ codes }: Shown) => codes.includes(code)] as const),
  ['code=urn:s|a&_sort=-date', ({ codes }) => codes.includes('a')],
  ['category=laboratory&_sort=-_lastUpdated', ({ isLab }) => isLab],
  ['status=final', ({ status }) => status === 'final'],
  ['code=a&status=final&_sort=status', ({ codes, status }) => codes.includes('a') && status === 'final'],
  ['code:not=a', ({ codes }) => !codes.includes('a')],
  ['code=a,b', ({ codes }) => codes.includes('a') || codes.includes('b')],
];
/** Opens a search that looks up totals even for few matches, as it normally does only for many. */
const openTallied = ({ pool }: TestDatabase): Search =>
  openSearch(pool, undefined, { ...LIMITS, few: 1 }, openTallies(pool, 1, 1));

/** Number of queries that tallies are kept for. */
const TALLIED = 7;

const MODELS: readonly Projection[] = [resources, history, search];

describe('tallies', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let instances: Instance[];

  beforeEach(async () => {
    database = await createDatabase();
    instances = [await startInstance(database.url, { projections: MODELS })];
    store = await PostgresEventStore.open({ url: database.url });
  });
  afterEach(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    await store.close();
    await database.drop();
  });

  /** Returns tallies that differ from the count in the same snapshot. */
  async function differing(): Promise<{ readonly compared: number; readonly wrong: readonly string[] }> {
    const { rows } = await database.pool.query<{ tally: string; count: string; keys: string }>(
      `select (t.counted + t.changed)::text as tally, t.keys::text as keys,
         (select count(*) from search.entry e where e.keys @> t.keys)::text as count
       from search.tally t where t.counted is not null`,
    );
    const wrong = rows.filter(({ tally, count }) => tally !== count);
    return { compared: rows.length, wrong: wrong.map((row) => JSON.stringify(row)) };
  }

  const ask = (asked: Search, tenant: Tenant, query: string) =>
    asked(ownCaller(tenant, { kind: 'api_key', keyId: 'key_1' }, ['read']), {
      type: 'Observation',
      query: new URLSearchParams(query),
      base: 'http://localhost/',
    });

  /** Returns all ids on a search's pages, and the total on its first page. */
  async function list(asked: Search, tenant: Tenant, query: string) {
    const ids: string[] = [];
    const first = await ask(asked, tenant, `${query}&_count=2`);
    for (let page = first; ; ) {
      ids.push(...page.matches.map(({ id }) => id));
      if (page.next === undefined) return { total: first.total, ids };
      page = await ask(asked, tenant, `${query}&_count=200&_cursor=${page.next}`);
    }
  }

  /** Starts another instance and stops the oldest, or ends the runner's session. */
  async function move(chance: () => number): Promise<void> {
    if (chance() < 0.5) {
      await database.pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name = 'annal projection search'`,
      );
      return;
    }
    instances.push(await startInstance(database.url, { projections: MODELS }));
    if (instances.length > 2) await instances.shift()?.stop();
  }

  it('are exact in every snapshot, and searches that use them list as many', async function () {
    this.timeout(scaled(1_800_000, 120_000));
    const seed = randomSeed();
    const chance = makeChance(seed);
    const writer = new ObservationWriter(store, chance);
    const asked = openTallied(database);
    let isOver = false;
    let compared = 0;
    let searches = 0;
    const checking = (async () => {
      while (!isOver) {
        const found = await differing();
        compared += found.compared;
        if (found.wrong.length > 0) return found.wrong;
      }
      return [];
    })();
    const reading = (async () => {
      while (!isOver) {
        const [query] = QUESTIONS[searches % QUESTIONS.length] ?? ['', () => false];
        await ask(
          asked,
          TENANTS[searches % TENANTS.length] ?? { project: '', environment: 'sandbox' },
          query,
        );
        searches += 1;
      }
    })();
    const end = async () => {
      isOver = true;
      await reading;
      return checking;
    };
    try {
      for (let round = 0; round < scaled(120, 3); round += 1) {
        for (let n = 0; n < 40; n += 1) await writer.write();
        if (round % 3 === 0) await move(chance);
        if (round % 3 === 1) {
          const [report] = await rebuild({ store, databaseUrl: database.url, projections: MODELS }, [
            'search',
          ]);
          expect(report?.outcome, `seed ${seed}`).to.equal('swapped');
        }
        await Promise.all(instances.map((instance) => instance.shown(writer.position)));
        for (const tenant of TENANTS) {
          for (const [query, holds] of QUESTIONS) {
            const { total, ids } = await list(asked, tenant, query);
            const about = `seed ${seed}, round ${round}: ${tenant.project} ${tenant.environment} ${query}`;
            expect(new Set(ids).size, about).to.equal(writer.count(tenant, holds));
            expect(total, about).to.equal(ids.length);
            const counted = await ask(asked, tenant, `${query}&_summary=count`);
            expect(counted.total, about).to.equal(ids.length);
          }
        }
      }
    } finally {
      await end();
    }
    expect(await end(), `seed ${seed}`).to.deep.equal([]);
    expect((await differing()).wrong, `seed ${seed}`).to.deep.equal([]);
    expect(compared, `seed ${seed}`).to.be.above(100);
    tell(`seed ${seed}: ${compared} tallies compared during ${searches} searches`);
  });

  it('are what searches show, of each project and environment', async () => {
    const writer = new ObservationWriter(store, makeChance(7));
    for (let n = 0; n < 300; n += 1) await writer.write();
    await instances[0]?.shown(writer.position);
    const asked = openTallied(database);
    const totals = async () =>
      Promise.all(
        TENANTS.flatMap((tenant) =>
          QUESTIONS.map(async ([query]) => (await ask(asked, tenant, `${query}&_count=1`)).total ?? 0),
        ),
      );
    const before = await totals();
    expect(Math.min(...before)).to.be.above(2);
    await until(async () => (await differing()).compared === TENANTS.length * TALLIED);
    expect(await totals()).to.deep.equal(before);

    // Another runner keeps the tallies up to date before anyone requests them again.
    await Promise.all(instances.splice(0).map((instance) => instance.stop()));
    instances.push(await startInstance(database.url, { projections: MODELS }));
    for (let n = 0; n < 100; n += 1) await writer.write();
    await instances[0]?.shown(writer.position);
    expect(await differing()).to.deep.equal({ compared: TENANTS.length * TALLIED, wrong: [] });
    const after = await totals();
    expect(after).to.not.deep.equal(before);
    await database.pool.query('update search.tally set changed = changed + 1000');
    const isTallied = (n: number) => n % QUESTIONS.length < TALLIED;
    expect(await totals()).to.deep.equal(after.map((total, n) => total + (isTallied(n) ? 1000 : 0)));
  });

  it('would be found to differ if a runner left changes out', async () => {
    const forgetful: Projection = {
      ...search,
      async keep(...of) {
        const kept = await search.keep?.(...of);
        if (kept === undefined) throw new Error('search keeps tallies');
        return {
          get isDue() {
            return kept.isDue;
          },
          take: () => kept.take(),
          inSteps: (schema, events) => search.inSteps?.(schema, events) ?? kept.inSteps(schema, events),
          close: () => kept.close(),
        };
      },
    };
    await Promise.all(instances.splice(0).map((instance) => instance.stop()));
    instances.push(await startInstance(database.url, { projections: [resources, history, forgetful] }));
    const writer = new ObservationWriter(store, makeChance(7));
    const asked = openTallied(database);
    for (let n = 0; n < 100; n += 1) await writer.write();
    await instances[0]?.shown(writer.position);
    for (const tenant of TENANTS) await ask(asked, tenant, 'code=a');
    await until(async () => (await differing()).compared === TENANTS.length);
    for (let n = 0; n < 100; n += 1) await writer.write();
    await instances[0]?.shown(writer.position);
    expect((await differing()).wrong).to.not.deep.equal([]);
  });
});
