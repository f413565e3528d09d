/** Makes the tables of the read models at start. */
import type pg from 'pg';
import { checkpointTable, readCheckpoint } from './checkpoint.ts';
import { lockTransaction } from './locks.ts';
import type { Projection } from './projection.ts';
import { inTransaction } from './session.ts';

/** DDL of a projection's schema, its tables and its checkpoint, without what `indexes` makes. */
export function schemaSql(projection: Projection, schema: string): string {
  return `create schema ${schema};\n${projection.tables(schema)}\n${checkpointTable(schema, projection.version)}`;
}

/**
 * Makes what is missing; any number of instances may start at once.
 * @returns the names of projections whose tables were made for another `version`: to be rebuilt before they serve.
 */
export async function prepareReadModels(
  pool: pg.Pool,
  projections: readonly Projection[],
): Promise<string[]> {
  const client = await pool.connect();
  try {
    return await inTransaction(client, async () => {
      await lockTransaction(client, 'prepare');
      const outdated: string[] = [];
      for (const projection of projections) {
        const { name } = projection;
        const checkpoint = await readCheckpoint(client, name);
        if (checkpoint === undefined) {
          await client.query(`${schemaSql(projection, name)}\n${projection.indexes(name)}`);
        } else if (checkpoint.version !== projection.version) outdated.push(name);
      }
      return outdated;
    });
  } finally {
    client.release();
  }
}
