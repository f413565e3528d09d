/**
 * Baseline for series: a bare Koa route that reads the rows for a series with one statement, using the same indexes, and sends
 * their text. It does without credentials, units and statistics.
 */
import pg from 'pg';
import { answer } from '../worker.ts';
import { serveRoute } from './route.ts';

const ROWS = `
  select e.fields from timeline.place p join timeline.entry e on e.id = p.id and e.version = p.version
  where p.record = $1 and p.list = $2 and p.until is null order by p.at`;

/**
 * Takes the URL of the service's database and the number of connections to use, and returns the port. The route's path is
 * `/<record>/<list>`.
 */
answer(async ({ url, connections }: { url: string; connections: number }): Promise<number> => {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  return serveRoute(async (ctx) => {
    const [, record, list] = ctx.path.split('/');
    const { rows } = await pool.query<{ fields: string }>({
      name: 'series',
      text: ROWS,
      values: [record, list],
    });
    ctx.type = 'application/json';
    ctx.body = `[${rows.map(({ fields }) => `{${fields}}`).join(',')}]`;
  });
});
