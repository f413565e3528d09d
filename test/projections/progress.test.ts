import { expect } from 'chai';
import { PROJECTIONS } from '#projections/all.ts';
import { FRESH_MS, FreshnessRule, LOOK_HOLDS_MS } from '#projections/freshness.ts';
import { Progress } from '#projections/progress.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { type Position, Unavailable } from '#src/events/store.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { until } from './made.ts';

const at = (position: number) => String(position).padStart(16, '0') as Position;

describe('freshness', () => {
  const MODEL = 'resources';
  const none = new Map<string, Position>();
  /**
   * Records the log's head every second, starting at 0.
   * @param heads the head at each check
   */
  function looked(heads: readonly number[]): FreshnessRule {
    const freshness = new FreshnessRule();
    for (const [i, head] of heads.entries()) {
      freshness.noteHead(i * 1_000, at(head));
      freshness.noteLate(i * 1_000, none);
    }
    return freshness;
  }

  it('knows nothing before the first look', () => {
    expect(new FreshnessRule().isFresh(MODEL, at(5), 0)).to.equal(false);
    const blind = new FreshnessRule();
    blind.noteHead(0, at(5));
    expect(blind.isFresh(MODEL, at(5), 0), 'without the notes').to.equal(false);
  });

  it('asks for what was there before it began to look', () => {
    const freshness = looked([7]);
    expect(freshness.isFresh(MODEL, at(6), 10)).to.equal(false);
    expect(freshness.isFresh(MODEL, at(7), 10)).to.equal(true);
    expect(freshness.isFresh(MODEL, undefined, 10)).to.equal(false);
  });

  it('gives a read model nine seconds to pass a head', () => {
    // Event 8 is appended at 1,500 ms and first seen at 2,000 ms.
    const heads = [7, 7, ...Array<number>(20).fill(8)];
    for (let now = 2_000; now < 20_000; now += 100) {
      const freshness = looked(heads.slice(0, Math.floor(now / 1_000) + 1));
      expect(freshness.isFresh(MODEL, at(8), now)).to.equal(true);
      expect(freshness.isFresh(MODEL, at(7), now)).to.equal(now < 1_000 + FRESH_MS);
    }
  });

  it('requires what a late write has noted for the read model, at once', () => {
    const freshness = looked([7]);
    freshness.noteLate(1_000, new Map([[MODEL, at(9)]]));
    expect(freshness.isFresh(MODEL, at(8), 1_000)).to.equal(false);
    expect(freshness.isFresh(MODEL, at(9), 1_000)).to.equal(true);
    expect(freshness.isFresh('history', at(8), 1_000)).to.equal(true);
  });

  it('knows nothing any more when it has not looked at the notes for a while', () => {
    const freshness = looked([7, 7]);
    expect(freshness.isFresh(MODEL, at(7), 1_000 + LOOK_HOLDS_MS - 1)).to.equal(true);
    expect(freshness.isFresh(MODEL, at(7), 1_000 + LOOK_HOLDS_MS)).to.equal(false);
  });

  it('goes by the notes alone while the log does not answer', () => {
    const freshness = looked([7, 8]);
    freshness.logLost();
    for (let now = 2_000; now < 30_000; now += 1_000) freshness.noteLate(now, none);
    expect(freshness.isFresh(MODEL, at(7), 30_000)).to.equal(true);
    expect(freshness.isFresh(MODEL, at(6), 30_000), 'the head at the beginning counts').to.equal(false);
    // The log is available again: the read model has nine seconds to pass the head.
    freshness.noteHead(30_000, at(8));
    freshness.noteLate(39_000, none);
    expect(freshness.isFresh(MODEL, at(7), 30_000 + FRESH_MS - 1)).to.equal(true);
    expect(freshness.isFresh(MODEL, at(7), 30_000 + FRESH_MS)).to.equal(false);
  });

  it('takes no head from before the connection as the beginning', () => {
    const freshness = looked([7]);
    freshness.forget(5_000);
    freshness.noteHead(4_900, at(7));
    freshness.noteLate(5_100, none);
    expect(freshness.isFresh(MODEL, at(9), 5_100)).to.equal(false);
    freshness.noteHead(5_100, at(9));
    expect(freshness.isFresh(MODEL, at(8), 5_100)).to.equal(false);
    expect(freshness.isFresh(MODEL, at(9), 5_100)).to.equal(true);
  });
});

describe('progress', () => {
  const names = ['resources', 'history'];
  const projections = PROJECTIONS.filter(({ name }) => names.includes(name));
  let database: TestDatabase;
  let progress: Progress;
  let head: () => Promise<Position>;

  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, PROJECTIONS);
  });
  after(() => database.drop());
  beforeEach(async () => {
    await database.pool.query(`update resources.checkpoint set position = '${at(5)}'`);
    await database.pool.query(`update history.checkpoint set position = '${at(7)}'`);
    head = async () => at(5);
    progress = new Progress({ store: { head: () => head() }, databaseUrl: database.url, projections });
    await progress.start();
  });
  afterEach(() => progress.stop());

  const notify = (name: string, position: number) =>
    database.pool.query(`select pg_notify('annal_progress', $1)`, [`${name} ${at(position)}`]);

  it('begins at the checkpoints', async () => {
    expect(progress.passed('resources')).to.equal(at(5));
    expect(await progress.waitFor(at(5), names, 0)).to.equal(true);
    expect(progress.stale()).to.deep.equal([]);
  });

  it('waits for all that are named, heard of here or from elsewhere', async () => {
    const both = progress.waitFor(at(9), names, 10_000);
    const one = progress.waitFor(at(9), ['resources'], 10_000);
    progress.advance('resources', at(9));
    expect(await one).to.equal(true);
    await notify('history', 9);
    expect(await both).to.equal(true);
  });

  it('gives up after a while, and at the end', async () => {
    expect(await progress.waitFor(at(9), names, 20)).to.equal(false);
    const waiting = progress.waitFor(at(9), names, 60_000);
    progress.stop();
    expect(await waiting).to.equal(false);
  });

  it('finds out what it was not told', async () => {
    await database.pool.query(`update resources.checkpoint set position = '${at(8)}'`);
    expect(await progress.waitFor(at(8), ['resources'], 5_000)).to.equal(true);
  });

  it('says what lags behind a head that was there before', async () => {
    progress.stop();
    head = async () => at(6);
    progress = new Progress({ store: { head: () => head() }, databaseUrl: database.url, projections });
    await progress.start();
    expect(progress.stale()).to.deep.equal(['resources']);
    progress.advance('resources', at(6));
    expect(progress.stale()).to.deep.equal([]);
  });

  it('says whose tables earlier software has made again, until they are of its own version', async () => {
    const version = (of: string) => database.pool.query(`update history.checkpoint set version = ${of}`);
    await version('version - 1');
    await until(() => progress.stale().includes('history'));
    expect(progress.stale()).to.deep.equal(['history']);
    await version('version + 1');
    await until(() => progress.stale().length === 0);
  });

  it('listens again after its connection was lost, and then believes the checkpoints', async () => {
    progress.advance('resources', at(100));
    await database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'annal progress'`,
    );
    await until(() => progress.passed('resources') === at(5));
    await notify('resources', 11);
    expect(await progress.waitFor(at(11), ['resources'], 500)).to.equal(true);
  });

  it('goes on hearing and serving while the log does not answer, and says that it does not', async () => {
    expect(progress.logAnswers).to.equal(true);
    head = () => Promise.reject(new Unavailable('away'));
    await until(() => !progress.logAnswers);
    await notify('resources', 12);
    expect(await progress.waitFor(at(12), ['resources'], 500)).to.equal(true);
    expect(progress.stale()).to.deep.equal([]);
    head = async () => at(5);
    await until(() => progress.logAnswers);
  });
});
