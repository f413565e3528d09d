/** Finds matches for a transaction's conditional references among the transaction's own resources. */
import type { ClientBase, Pool } from 'pg';
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Unwritten } from '#src/fhir/unwritten.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { matchStatement } from './match.ts';

/** Returns for each search at most two ids of matching resources. */
export type MatchUnwritten = (
  caller: Caller,
  resources: readonly Unwritten[],
  searches: readonly { readonly type: ResourceType; readonly criteria: string }[],
) => Promise<(readonly string[])[]>;

/** Creates the read models' tables in `pg_temp` with the given resources' rows. */
export type LoadUnwritten = (tx: ClientBase, resources: readonly Unwritten[]) => Promise<void>;

const MODELS = /\b(?:resources|search)\.(?=[a-z_]+\b)/g;

/**
 * Creates matching on temporary tables, which last for one call.
 * @param base as in `openMatch`
 */
export function openMatchUnwritten(
  pool: Pool,
  base: string,
  load: LoadUnwritten,
  terminology: Terminology = requiredValueSets,
): MatchUnwritten {
  return async (caller, resources, searches) => {
    const scope = { tenant: caller.sees.ownerId, sees: caller.sees, base, now: nowMicros() };
    const client = await pool.connect();
    try {
      await client.query('begin');
      await load(client, resources);
      const found: string[][] = [];
      for (const { type, criteria } of searches) {
        const { sql, values } = await matchStatement({ ...scope, type }, criteria, [], terminology);
        const { rows } = await client.query<{ id: string }>(sql.replace(MODELS, 'pg_temp.'), values);
        found.push(rows.map(({ id }) => id));
      }
      return found;
    } finally {
      await client.query('rollback').finally(() => client.release());
    }
  };
}
