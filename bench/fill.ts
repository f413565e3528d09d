/** Writes events to read models with COPY, using the rows that the projections produce. Needs neither a log nor a service. */
import pg from 'pg';
import type { Projection } from '#projections/projection.ts';
import type { StoredEvent } from '#src/events/catalog.ts';

/** Events a COPY. */
const BATCH = 2_000;

/**
 * Fills the existing tables of the given read models without their indexes, except primary keys, and then recreates the
 * indexes.
 * @returns the number of events.
 */
export async function fill(
  databaseUrl: string,
  models: readonly Projection[],
  events: Iterable<StoredEvent>,
): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c synchronous_commit=off' });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where not indisprimary and indrelid::regclass::text like any($1)`,
      [models.map(({ name }) => `${name}.%`)],
    );
    for (const { name } of rows) await client.query(`drop index ${name}`);
    let count = 0;
    let batch: StoredEvent[] = [];
    const flush = async () => {
      for (const model of models) await model.load(client, model.name, batch);
      count += batch.length;
      batch = [];
    };
    for (const event of events) {
      batch.push(event);
      if (batch.length === BATCH) await flush();
    }
    if (batch.length > 0) await flush();
    await client.query(`set maintenance_work_mem = '256MB'`);
    for (const { definition } of rows) await client.query(definition);
    return count;
  } finally {
    await client.end();
  }
}
