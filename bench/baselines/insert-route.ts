/**
 * Baseline for a create: one INSERT of the request's text into a table with a primary key and one more index, committed
 * durably. It does without parsing, validation, versions and a second copy.
 */
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { answer } from '../worker.ts';
import { serveRoute } from './route.ts';

const TABLE = `
  CREATE TABLE inserted (
    id uuid PRIMARY KEY DEFAULT uuidv7(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    body text NOT NULL
  );
  CREATE INDEX inserted_created_at ON inserted (created_at)`;

/** Takes the database's URL and the number of connections to use, and returns the port. */
answer(async ({ url, connections }: { url: string; connections: number }): Promise<number> => {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  await pool.query(TABLE);
  return serveRoute(async (ctx) => {
    const body = await text(ctx.req);
    const { rows } = await pool.query<{ id: string }>({
      name: 'insert',
      text: 'INSERT INTO inserted (body) VALUES ($1) RETURNING id',
      values: [body],
    });
    ctx.status = 201;
    ctx.set('Location', `/${rows[0]?.id}`);
    ctx.type = 'application/fhir+json';
    ctx.body = body;
  });
});
