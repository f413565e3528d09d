import { expect } from 'chai';
import { gather, Line } from '#queries/database/gather.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

describe('gathered look-ups', () => {
  it('share a statement when they come together, and the next one while it is under way', async () => {
    const batches: (readonly number[])[] = [];
    let finish: () => void = () => undefined;
    const double = gather<number, number>(async (keys) => {
      batches.push(keys);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return keys.map((key) => key * 2);
    });
    const until = async (count: number) => {
      while (batches.length < count) await new Promise(setImmediate);
    };
    const first = [1, 2, 2].map(double);
    await until(1);
    const second = [3, 4].map(double);
    await new Promise(setImmediate);
    expect(batches).to.deep.equal([[1, 2, 2]]);
    finish();
    expect(await Promise.all(first)).to.deep.equal([2, 4, 4]);
    await until(2);
    finish();
    expect(await Promise.all(second)).to.deep.equal([6, 8]);
    expect(batches).to.deep.equal([
      [1, 2, 2],
      [3, 4],
    ]);
  });

  it('fail together, and work again', async () => {
    let broken = true;
    const look = gather<number, number>(async (keys) => {
      if (broken) throw new Error('away');
      return keys;
    });
    const failed = await Promise.allSettled([look(1), look(2)]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    broken = false;
    expect(await look(3)).to.equal(3);
  });

  describe('over a line', () => {
    let database: TestDatabase;
    let line: Line;
    before(async () => {
      database = await createDatabase();
      line = new Line(database.pool.options);
    });
    after(async () => {
      await line.close();
      await database.drop();
    });

    const backends = (): ((key: number) => Promise<number>) =>
      line.gather<number, number>(async (connection, keys) => {
        const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
        return keys.map(() => rows[0]?.pid ?? 0);
      });

    it('different kinds use one connection', async () => {
      const pids = await Promise.all([backends()(1), backends()(2), backends()(3)]);
      expect(new Set(pids).size).to.equal(1);
    });

    it('a connection that broke is opened again', async () => {
      const backend = backends();
      const first = await backend(1);
      await database.pool.query('select pg_terminate_backend($1)', [first]);
      // Work in progress fails when the connection breaks. By the next attempt at the latest, there is a new connection.
      const second = await backend(1).catch(() => backend(1));
      expect(second).not.to.equal(first);
    });

    it('a statement that fails leaves the others of its turn alone', async () => {
      const bad = line.gather<number, number>(async (connection, keys) => {
        await connection.query('select 1 / 0');
        return keys;
      });
      const [failed, good] = await Promise.allSettled([bad(1), backends()(1)]);
      expect([failed.status, good.status]).to.deep.equal(['rejected', 'fulfilled']);
    });

    it('says so when there is no database', async () => {
      const nowhere = new Line({ host: '127.0.0.1', port: 1, user: 'nobody', database: 'none' });
      const look = nowhere.gather<number, number>(async (_connection, keys) => keys);
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const failure = await look(1).catch((error: NodeJS.ErrnoException) => error.code);
        expect(failure).to.equal('ECONNREFUSED');
      }
      await nowhere.close();
    });
  });
});
