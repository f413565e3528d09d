import { expect } from 'chai';
import { onConnection } from '#queries/database/connection.ts';
import { keptRows } from '#queries/summary/kept-rows.ts';
import { openPool } from '#src/database/pool.ts';
import { notFound } from '#src/shared/refusal.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';

describe('rows that are kept as bytes', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createDatabase();
  });
  after(() => database.drop());

  it('say what the database holds, whatever their sizes', async () => {
    const [first, most] = [16 * 1024, 256 * 1024];
    const sizes = [1, 0, first - 1, first, 1, 2 * first, 5, most - 1, most, most + 1, 3 * most, 0, 7];
    const rows = sizes.map((size, n) => ({ type: `T${n}`, id: `i${n}`, body: 'x'.repeat(size), n }));
    // Each body ends in a four-byte character.
    for (let n = rows.length; n < 300; n += 1)
      rows.push({ type: 'Many', id: `m${n}`, body: `${'é'.repeat(n * 5)}\u{1f9ec}`, n });
    const select = `select x.type, x.id, x.body from json_to_recordset('${JSON.stringify(rows)}'::json)
      as x(type text, id text, body text, n int) order by x.n`;
    const kept = await keptRows(database.pool, select);
    expect(kept.map(({ type, id }) => ({ type, id }))).to.deep.equal(
      rows.map(({ type, id }) => ({ type, id })),
    );
    for (const [n, { body }] of kept.entries()) expect(body === rows[n]?.body, `row ${n}`).to.equal(true);
  });

  it('are none of none, and say null where there is no text', async () => {
    expect(await keptRows(database.pool, `select 'a', 'b', 'c' where false`)).to.deep.equal([]);
    const [row] = await keptRows(database.pool, `select 'a', 'b', null::text`);
    expect(row?.body).to.equal('null');
  });

  it('are asked for over a connection that is not used again after a statement that nobody waited for', async () => {
    const pool = openPool(database.url, { max: 1, answerMs: 100 });
    const backend = async () =>
      (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid;
    try {
      const before = await backend();
      const refused = onConnection(pool, async () => {
        throw notFound('Patient', 'x');
      });
      expect((await Promise.allSettled([refused]))[0].status).to.equal('rejected');
      expect(await backend()).to.equal(before);
      const late = onConnection(pool, (one) => keptRows(one, `select 'a', 'b', pg_sleep(30)::text`));
      const [{ status }] = await Promise.allSettled([late]);
      expect(status).to.equal('rejected');
      expect(await backend()).not.to.equal(before);
    } finally {
      await pool.end();
    }
  });
});
