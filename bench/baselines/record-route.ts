/**
 * Baseline for `$everything` and `$summary`: a bare Koa route that reads a record's current resources with one statement,
 * using the same index, and sends their text. It does without credentials, a Bundle and the directory.
 */
import pg from 'pg';
import { answer } from '../worker.ts';
import { serveRoute } from './route.ts';

const ROWS = `
  select r.body from resources.resource r
  where r.record = $1 and not r.deleted order by r.record, r.type, r.id`;

/**
 * Takes the URL of the service's database and the number of connections to use, and returns the port. The route's path is
 * `/<record>`.
 */
answer(async ({ url, connections }: { url: string; connections: number }): Promise<number> => {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  return serveRoute(async (ctx) => {
    const { rows } = await pool.query<{ body: string }>({
      name: 'record',
      text: ROWS,
      values: [ctx.path.slice(1)],
    });
    ctx.type = 'application/fhir+json';
    ctx.body = `[${rows.map(({ body }) => body).join(',')}]`;
  });
});
