/** Puts a population into the read models `resources` and `search` by COPY, through the projections' own rows. */
import pg from 'pg';
import type { Projection } from '#projections/projection.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import type { Tenant } from '#src/shared/tenant.ts';
import { population } from '../population.ts';
import { answer } from '../worker.ts';

/** Events a COPY. */
const BATCH = 2_000;
const MODELS: readonly Projection[] = [resources, search];

/** Where, whose, and how much. */
export interface Population {
  readonly databaseUrl: string;
  readonly tenant: Tenant;
  readonly patients: number;
}

/**
 * Fills the tables, which are there, without their indexes but primary keys; these are made again as they were.
 * @returns how many resources.
 */
export async function populate({ databaseUrl, ...size }: Population): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl, options: '-c synchronous_commit=off' });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; definition: string }>(
      `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
       from pg_index where not indisprimary and indrelid::regclass::text like any($1)`,
      [MODELS.map(({ name }) => `${name}.%`)],
    );
    for (const { name } of rows) await client.query(`drop index ${name}`);
    let count = 0;
    let batch: StoredEvent[] = [];
    const flush = async () => {
      for (const model of MODELS) await model.load(client, model.name, batch);
      count += batch.length;
      batch = [];
    };
    for (const event of population(size)) {
      batch.push(event);
      if (batch.length === BATCH) await flush();
    }
    await flush();
    await client.query(`set maintenance_work_mem = '256MB'`);
    for (const { definition } of rows) await client.query(definition);
    return count;
  } finally {
    await client.end();
  }
}

answer(populate);
