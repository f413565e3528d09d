/**
 * Baseline for a rebuild: COPY of the read models' own rows into the same tables, which have their primary keys but no other
 * indexes. Like the rebuild, the baseline uses one connection for each read model.
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { resources } from '#projections/resources/project.ts';
import { schemaSql } from '#projections/tables.ts';
import { answer } from '../worker.ts';

interface Call {
  readonly url: string;
  /** The folder with the rows, in COPY's text format. */
  readonly folder: string;
  /** The action: export the rows, or import them. */
  readonly what: 'export' | 'copy';
}

const MODELS = [resources, history];

async function exportRows(client: pg.Client, { name, compared }: Projection, folder: string): Promise<void> {
  for (const table of compared) {
    const rows = client.query(copyTo(`COPY ${name}.${table} TO STDOUT`));
    await pipeline(rows, createWriteStream(join(folder, `${name}.${table}`)));
  }
}

async function copyRows(client: pg.Client, projection: Projection, folder: string): Promise<void> {
  const { name, compared } = projection;
  const schema = `${name}_copied`;
  await client.query(schemaSql(projection, schema));
  await client.query('BEGIN');
  for (const table of compared) {
    const rows = createReadStream(join(folder, `${name}.${table}`), { highWaterMark: 256 * 1024 });
    await pipeline(rows, client.query(copyFrom(`COPY ${schema}.${table} FROM STDIN`)));
  }
  await client.query('COMMIT');
}

/** @returns seconds. */
answer(async ({ url, folder, what }: Call): Promise<number> => {
  const clients = await Promise.all(
    MODELS.map(async (model) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query(`DROP SCHEMA IF EXISTS ${model.name}_copied CASCADE`);
      return { client, model };
    }),
  );
  const work = what === 'export' ? exportRows : copyRows;
  const began = performance.now();
  await Promise.all(clients.map(({ client, model }) => work(client, model, folder)));
  const seconds = (performance.now() - began) / 1000;
  await Promise.all(
    clients.map(async ({ client, model }) => {
      await client.query(`DROP SCHEMA IF EXISTS ${model.name}_copied CASCADE`);
      await client.end();
    }),
  );
  return seconds;
});
