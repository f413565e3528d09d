import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { expect } from 'chai';
import { Line } from '#queries/database/gather.ts';
import { toRefusal } from '#src/app/refusal-of.ts';
import { openPool } from '#src/database/pool.ts';
import { PostgresCriteriaLocks } from '#src/operations/locks.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually, portOf } from '#test/support/process.ts';

const kindOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => 'answered',
    (error: unknown) => toRefusal(error)?.kind,
  );

describe('a database that does not answer', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('fails a statement as unavailable, and the pool goes on with another connection', async () => {
    const pool = openPool(database.url, { max: 1, answerMs: 200 });
    expect(await kindOf(pool.query('select pg_sleep(20)'))).to.equal('unavailable');
    expect((await pool.query('select 1 as one')).rows).to.deep.equal([{ one: 1 }]);
    await pool.end();
  });

  it('is not left with statements that nobody waits for', async () => {
    const pool = openPool(database.url, { max: 1, answerMs: 100, name: 'annal abandoned' });
    expect(await kindOf(pool.query('select pg_sleep(60)'))).to.equal('unavailable');
    await pool.end();
    const { pool: onlooker } = database;
    await eventually(async () => {
      const { rowCount } = await onlooker.query(
        "select from pg_stat_activity where application_name = 'annal abandoned' and state = 'active'",
      );
      return rowCount === 0;
    }, 10_000);
  });

  it('lets a lock be waited for longer than an answer', async () => {
    const pool = openPool(database.url, { max: 2, answerMs: 100 });
    const locks = new PostgresCriteriaLocks(pool, 20_000);
    const elsewhere = new PostgresCriteriaLocks(database.pool);
    let free: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      free = resolve;
    });
    let entered: () => void = () => undefined;
    const taken = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const holding = elsewhere.hold(['one'], () => {
      entered();
      return held;
    });
    await taken;
    const waiting = locks.hold(['one'], async () => 'mine');
    // Waits longer than the server would let any other statement of this pool run.
    await eventually(async () => {
      const { rowCount } = await database.pool.query(
        "select from pg_stat_activity where wait_event = 'advisory' and query_start < now() - interval '1.5 seconds'",
      );
      return rowCount === 1;
    });
    free();
    expect(await waiting).to.equal('mine');
    await holding;
    await pool.end();
  });

  it('fails who waits for a connection of the pool, or for a server that says nothing', async () => {
    const pool = openPool(database.url, { max: 1, connectMs: 2_000 });
    const held = await pool.connect();
    expect(await kindOf(pool.query('select 1'))).to.equal('unavailable');
    held.release();
    await pool.end();

    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const port = portOf(silent);
    const nobody = openPool(`postgres://nobody@127.0.0.1:${port}/none`, { connectMs: 200 });
    expect(await kindOf(nobody.query('select 1'))).to.equal('unavailable');
    const line = new Line(nobody.options);
    const look = line.gather<number, number>(async (_connection, keys) => keys);
    expect(await kindOf(look(1))).to.equal('unavailable');
    await line.close();
    await nobody.end();
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  it('fails what is under way on a line, which then opens another connection', async () => {
    const pool = openPool(database.url, { answerMs: 300 });
    const line = new Line(pool.options);
    const look = line.gather<number, number>(async (connection, [seconds = 0]) => {
      const { rows } = await connection.query<{ pid: number }>(
        'select pg_backend_pid() as pid, pg_sleep($1)',
        [seconds],
      );
      return [rows[0]?.pid ?? 0];
    }, 1);
    const first = await look(0);
    expect(await Promise.all([kindOf(look(20)), kindOf(look(0))])).to.deep.equal([
      'unavailable',
      'unavailable',
    ]);
    expect(await look(0)).not.to.equal(first);
    await line.close();
    await pool.end();
  });

  it('is not meant by a statement that breaks the protocol', () => {
    const broken = Object.assign(new Error('bind message has 4465 parameter formats'), { code: '08P01' });
    expect(toRefusal(broken)).to.equal(undefined);
    expect(toRefusal(Object.assign(new Error('gone'), { code: '08006' }))?.kind).to.equal('unavailable');
  });

  it('locks on criteria are waited for, but not for ever', async () => {
    const pools = [
      openPool(database.url, { answerMs: 200 }),
      openPool(database.url, { answerMs: 200 }),
    ] as const;
    const [here, there] = pools.map((pool) => new PostgresCriteriaLocks(pool, 600)) as [
      PostgresCriteriaLocks,
      PostgresCriteriaLocks,
    ];
    let go: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    let entered: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const holding = here.hold(['key'], async () => {
      entered();
      await gone;
    });
    await inside;
    // One request on the same instance and one on another: both give up, and neither affects later requests.
    expect(
      await Promise.all([
        kindOf(here.hold(['key'], async () => undefined)),
        kindOf(there.hold(['key'], async () => undefined)),
      ]),
    ).to.deep.equal(['unavailable', 'unavailable']);
    const later = Promise.all([
      here.hold(['key'], async () => 'here'),
      there.hold(['key'], async () => 'there'),
    ]);
    go();
    await holding;
    expect(await later).to.deep.equal(['here', 'there']);
    await Promise.all(pools.map((pool) => pool.end()));
  });
});
