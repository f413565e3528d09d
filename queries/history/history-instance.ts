/**
 * The first page of an instance's history, which is requested most often. Histories that are requested at the same time share
 * a statement, and bodies are passed through as bytes.
 */
import pg from 'pg';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { copyOut } from '../database/copy-out.ts';
import type { Line } from '../database/gather.ts';
import { bodyOrSize } from '../read.ts';
import type { HistoryEntry } from './history-entry.ts';

/**
 * Returns a resource's newest versions: one more than `count`, if there are that many. Large bodies are replaced by their
 * sizes.
 */
export type NewestVersions = (
  caller: Caller,
  type: ResourceType,
  id: string,
  count: number,
) => Promise<readonly HistoryEntry[]>;

interface Key {
  readonly tenant: string;
  readonly type: ResourceType;
  readonly id: string;
  readonly count: number;
}

/** The maximum number of histories per statement, because their bodies are in memory together. */
const MAX_HISTORIES = 4;

// Index: primary key of history.version (id, version), backwards, once a key: rows come key by key in that order.
function newest(keys: readonly Key[]): string {
  const rows = keys.map(
    ({ id, tenant, type, count }, n) =>
      `(${n}, ${pg.escapeLiteral(id)}::uuid, ${pg.escapeLiteral(tenant)}::uuid, ${pg.escapeLiteral(type)}, ${count})`,
  );
  return `
  select k.n, p.version, p.recorded_at, p.operation, p.body
  from (values ${rows.join(', ')}) k(n, id, tenant, type, count)
  cross join lateral (
    select v.version, v.recorded_at, v.operation, ${bodyOrSize('v.body')} as body
    from history.version v
    where v.id = k.id and v.tenant = k.tenant and v.type = k.type
    order by v.version desc limit k.count
  ) p`;
}

/** Creates the query for instance histories on a line. */
export function openNewestVersions(line: Pick<Line, 'gather'>): NewestVersions {
  const gathered = line.gather<Key, readonly HistoryEntry[]>(async (database, keys) => {
    const found: HistoryEntry[][] = keys.map(() => []);
    for (const [n, version, recordedAt, operation, body] of await copyOut(database, newest(keys))) {
      const at = n?.readInt32BE() ?? 0;
      const key = keys[at];
      if (key === undefined) continue;
      found[at]?.push({
        id: key.id,
        type: key.type,
        version: version?.readInt32BE() ?? 0,
        recordedAt: Number(recordedAt?.readBigInt64BE()),
        operation: operation?.toString() as HistoryEntry['operation'],
        body: body ?? null,
      });
    }
    return found;
  }, MAX_HISTORIES);
  return (caller, type, id, count) => gathered({ tenant: caller.sees.ownerId, type, id, count: count + 1 });
}
