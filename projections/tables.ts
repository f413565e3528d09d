/** Creates the read models' tables at startup. */
import type pg from 'pg';
import { checkpointTable, NOTHING_YET, readCheckpoint } from './checkpoint.ts';
import { lockTransaction } from './locks.ts';
import type { Projection } from './projection.ts';
import { inTransaction } from './session.ts';

/** Returns the DDL for a projection's schema, tables and checkpoint, without `indexes`. */
export function schemaSql(projection: Projection, schema: string): string {
  return `create schema ${schema};\n${projection.tables(schema)}\n${checkpointTable(schema, projection.version)}`;
}

/**
 * Creates the tables of a read model that has none. They must then be rebuilt: until then, no instance serves or fills them.
 */
export async function makeMissing(session: pg.Client, projection: Projection): Promise<void> {
  const { name } = projection;
  await inTransaction(session, async () => {
    await lockTransaction(session, 'prepare');
    if ((await readCheckpoint(session, name)) !== undefined) return;
    // An existing schema, even an empty one, would cause a conflict.
    await session.query(
      `drop schema if exists ${name} cascade; ${schemaSql({ ...projection, version: NOTHING_YET }, name)}`,
    );
  });
}

/**
 * Creates missing tables; any number of instances may do this at the same time.
 * @returns the projections whose tables have a different `version` and must be rebuilt
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
