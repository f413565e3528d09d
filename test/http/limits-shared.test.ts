/** The limiter itself, on a real database: windows, returned slices, memory, and an unreachable database. */
import { expect } from 'chai';
import type { Pool } from 'pg';
import { openPool } from '#src/database/pool.ts';
import { LimitLeases } from '#src/operations/limit-leases.ts';
import { RateLimits } from '#src/operations/limits.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';
import { scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';

describe('the limiter', () => {
  let database: TestDatabase;
  const opened: RateLimits[] = [];

  before(async () => {
    database = await createMigratedDatabase();
  });
  after(async () => {
    await Promise.all(opened.map((limits) => limits.close()));
    await database?.drop();
  });

  const limiter = (limit: number, { windowMs = 60_000, remembered = 1_000, pool = database.pool } = {}) => {
    const limits = new RateLimits(new LimitLeases(pool, limit, windowMs), remembered);
    opened.push(limits);
    return limits;
  };
  const spend = async (limits: RateLimits, subject: string, times: number): Promise<number> => {
    const found = await Promise.all(Array.from({ length: times }, () => limits.spend(subject)));
    return found.filter(({ admitted }) => admitted).length;
  };
  const used = async (subject: string): Promise<number | undefined> => {
    const { rows } = await database.pool.query('select used from operations.rate_limit where subject = $1', [
      subject,
    ]);
    return rows[0]?.used;
  };

  it('gives out a budget once, to however many instances and in whatever order', async () => {
    const instances = Array.from({ length: 5 }, () => limiter(300));
    const through = await Promise.all(instances.map((limits) => spend(limits, 'a', 100)));
    // An instance is left with part of a slice only if it could spend all of its 100. At most two instances can do so before
    // the budget is used up. A slice is at most a twentieth of the budget.
    expect(through.reduce((sum, count) => sum + count)).to.be.within(300 - 2 * (300 / 20 - 1), 300);
    expect(await used('a')).to.equal(300);
  });

  it('begins a window with the first request, and the next after it has ended', async () => {
    const limits = limiter(10, { windowMs: 1_500 });
    expect(await spend(limits, 'b', 15)).to.equal(10);
    await eventually(async () => (await limits.spend('b')).admitted);
    expect(await spend(limits, 'b', 15)).to.equal(9);
  });

  it('says how much is left, and for how long', async () => {
    const limits = limiter(100);
    expect(await limits.spend('c')).to.deep.equal({ admitted: true, remaining: 99, seconds: 60 });
    await spend(limits, 'c', 99);
    expect(await limits.spend('c')).to.deep.include({ admitted: false, remaining: 0 });
  });

  /** Returns the pool, calling `told` with the pending result of each statement. */
  const watched = (told: (asked: unknown) => void): Pool =>
    Object.create(database.pool, {
      query: {
        value: (...args: Parameters<Pool['query']>) => {
          const asked: unknown = database.pool.query(...args);
          told(asked);
          return asked;
        },
      },
    });

  it('seldom asks the database', async () => {
    let statements = 0;
    const pool = watched(() => {
      statements += 1;
    });
    const limits = limiter(1_000_000, { pool });
    for (let n = 0; n < 10_000; n += 1) await limits.spend('d');
    expect(statements).to.be.below(20);
  });

  it('lets who asks often wait for no slice but the first', async () => {
    let underWay: Promise<unknown> = Promise.resolve();
    const pool = watched((asked) => {
      underWay = Promise.resolve(asked);
    });
    const limits = limiter(1_000_000, { pool });
    let waited = 0;
    for (let n = 0; n < 5_000; n += 1) {
      const standing = limits.spend('k');
      if (standing instanceof Promise) waited += 1;
      await standing;
      // Simulates the pace of real requests: the requested slice arrives before the next request.
      await new Promise(setImmediate);
      await underWay;
    }
    // Slices of 1, 2, 4, 8, 16 and 32.
    expect(waited).to.be.at.most(6);
  });

  it('brings back what it leased when it ends, and what it has forgotten', async () => {
    const limits = limiter(10_000, { remembered: 2 });
    for (let n = 0; n < 50; n += 1) await limits.spend('e');
    expect(await used('e')).to.be.above(50);
    for (const other of ['e1', 'e2', 'e3']) await limits.spend(other);
    await eventually(async () => (await used('e')) === 50);
    const closing = limiter(10_000);
    for (let n = 0; n < 50; n += 1) await closing.spend('f');
    await closing.close();
    expect(await used('f')).to.equal(50);
  });

  it('holds on to few of many addresses, and still counts the others', async function () {
    this.timeout(scaled(1_200_000, 60_000));
    // Longer than the three rounds take, so that no window ends between them.
    const limits = limiter(2, { remembered: 100, windowMs: 3_600_000 });
    const many = scaled(300_000, 5_000);
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < many; n += 500) {
        const found = await Promise.all(
          Array.from({ length: 500 }, (_, index) => limits.spend(`g${n + index}`)),
        );
        expect(found.filter(({ admitted }) => admitted)).to.have.length(round < 2 ? 500 : 0);
      }
    }
    tell(`${many} addresses three times over, ${limits.size} of them in memory`);
    expect(limits.size).to.be.at.most(100);
  });

  it('deletes windows that are over', async () => {
    const leases = new LimitLeases(database.pool, 10, 1);
    await leases.take('h', 1);
    await eventually(async () => {
      await leases.sweep();
      return (await used('h')) === undefined;
    });
  });

  it('counts alone while the database is away: it neither lets everything through nor nothing', async () => {
    const away = openPool('postgres://127.0.0.1:1/none', { connectMs: 500 });
    const limits = limiter(20, { pool: away });
    expect(await spend(limits, 'i', 50)).to.equal(20);
    expect(await limits.spend('i')).to.deep.include({ admitted: false, remaining: 0 });
    await away.end();
  });
});
