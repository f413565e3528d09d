/** Vread reads one version of a resource: https://hl7.org/fhir/R4/http.html#vread */
import type { Pool } from 'pg';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { AnswerBudget } from '#src/shared/load/answer-budget.ts';
import { bodyOrSize, type CurrentResource, wholeResource } from './read.ts';
import { seenStatement } from './sight.ts';

/**
 * Reads one version; undefined if it doesn't exist or the caller may not see it. The body of a deletion is null. `budget` is
 * the same as for `Read`.
 */
export type Vread = (
  caller: Caller,
  type: ResourceType,
  id: string,
  version: number,
  budget?: AnswerBudget,
) => Promise<CurrentResource | undefined>;

// Index: primary key of history.version (id, version).
const vread = (seen: string): string => `
  select v.recorded_at, ${bodyOrSize('v.body')} as body
  from history.version v
  where v.id = $1 and v.version = $2 and v.tenant = $3 and v.type = $4 ${seen}`;

/** Creates the vread query on a database. */
export function openVread(pool: Pool): Vread {
  return async (caller, type, id, version, budget) => {
    if (!isUuid(id)) return undefined;
    const { sees } = caller;
    const values = [id, version, sees.ownerId, type];
    const shown = { as: 'v', of: 'version', type } as const;
    const { rows } = await pool.query<{ recorded_at: number; body: string | null }>(
      seenStatement(sees, { name: 'vread', values }, 'r', shown, vread),
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    const found = { id, type, version, lastUpdated: row.recorded_at, body: row.body };
    return wholeResource(pool, caller.sees, found, budget);
  };
}
