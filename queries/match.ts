/** Finds the live resources that match conditional criteria, for the write side. https://hl7.org/fhir/R4/http.html#ccreate */
import type { Pool } from 'pg';
import { requiredValueSets, type Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { Binds } from './database/binds.ts';
import { costlySearch, isCanceled } from './database/gather.ts';
import { prepared } from './database/prepared.ts';
import { parseCriteria } from './search/parse.ts';
import { combinePredicates, ofTenant } from './search/predicates/conditions.ts';
import type { SearchScope } from './search/predicates/parameter.ts';
import { referableIn } from './search/referable.ts';
import { andSeen, findHome } from './sight.ts';

/** Returns at most two ids; two mean "several". */
export type Match = (
  caller: Caller,
  type: ResourceType,
  criteria: string,
  except?: readonly string[],
) => Promise<readonly string[]>;

/**
 * Creates matching on a database.
 * @param base base URL of the FHIR interface, with a trailing slash
 * @param atHead waits until the read model shows all resources of a type up to the log's current head
 */
export function openMatch(
  pool: Pool,
  base: string,
  atHead: (type: ResourceType) => Promise<void>,
  terminology: Terminology = requiredValueSets,
): Match {
  return async (caller, type, criteria, except = []) => {
    const { sees } = caller;
    await atHead(type);
    const { ownerId, within } = sees;
    const referable =
      within && (await referableIn(pool, ownerId, within, `${new URLSearchParams(criteria)}`));
    const scope = {
      type,
      tenant: sees.ownerId,
      sees,
      base,
      now: nowMicros(),
      ...(referable === undefined ? {} : { referable }),
    };
    const { sql, values } = await matchStatement(scope, criteria, except, terminology);
    const { rows } = await pool.query<{ id: string }>(prepared(sql, values)).catch((error: unknown) => {
      throw isCanceled(error) ? costlySearch(criteria.split('&'), []) : error;
    });
    return rows.map(({ id }) => id);
  };
}

/**
 * Returns the statement that finds at most two ids.
 * @param except ids that must not match
 */
export async function matchStatement(
  scope: SearchScope,
  criteria: string,
  except: readonly string[],
  terminology: Terminology,
): Promise<{ sql: string; values: unknown[] }> {
  const { type, sees } = scope;
  const predicates = await parseCriteria(criteria, scope, terminology);
  const binds = new Binds();
  const isOfRecord = sees.within !== undefined && findHome(type) === 'record';
  const leads = predicates.some(({ keyed, rows }) => keyed === true || rows !== undefined);
  const sql = `
    select r.id from resources.resource r
    where ${ofTenant(sees.ownerId, leads || isOfRecord, binds)} and r.type = ${binds.add(type, 'text')}
      and not r.deleted and ${combinePredicates(predicates, binds)}
      and r.id <> all(${binds.add(except, 'uuid[]')})
      ${andSeen(sees, 's', { as: 'r', of: 'current', type }, binds.add.bind(binds))}
    limit 2`;
  return { sql, values: binds.values };
}
