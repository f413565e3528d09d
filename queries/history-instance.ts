/**
 * The first page of an instance's history, the one that is asked for most. Histories asked for together share a
 * statement, and each comes as two texts instead of a row a version: fifty rows cost more to take apart than to send.
 */
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import type { Line } from './gather.ts';
import type { HistoryEntry } from './history.ts';

/** Gives the newest versions of a resource, one more than `count` where there are more. */
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

interface Row {
  readonly n: number;
  /** `version recorded_at operation`, with commas between. */
  readonly heads: string | null;
  /** Bodies with line feeds between: JSON texts as they are stored have none. Empty for a deletion. */
  readonly bodies: string | null;
}

/** Most histories that share a statement: what they hold is in memory together. */
const MAX_HISTORIES = 4;

// Index: primary key of history.version (id, version), backwards; an aggregate takes its rows in that order.
const NEWEST = `
  select k.n, t.heads, t.bodies
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int[]) with ordinality k(id, tenant, type, count, n)
  cross join lateral (
    select string_agg(concat_ws(' ', p.version, p.recorded_at, p.operation), ',') as heads,
      string_agg(coalesce(p.body, ''), E'\\n') as bodies
    from (
      select v.version, v.recorded_at, v.operation, v.body
      from history.version v
      where v.id = k.id and v.tenant = k.tenant and v.type = k.type
      order by v.version desc limit k.count
    ) p
  ) t`;

/** Opens it over a line. */
export function openNewestVersions(line: Line): NewestVersions {
  const gathered = line.gather<Key, readonly HistoryEntry[]>(async (database, keys) => {
    const { rows } = await database.query<Row>({
      name: 'newest-versions',
      text: NEWEST,
      values: [
        keys.map(({ id }) => id),
        keys.map(({ tenant }) => tenant),
        keys.map(({ type }) => type),
        keys.map(({ count }) => count),
      ],
    });
    const found = new Map(rows.map((row) => [row.n, row]));
    return keys.map((key, index) => entriesOf(key, found.get(index + 1)));
  }, MAX_HISTORIES);
  return (caller, type, id, count) => gathered({ tenant: caller.tenantId, type, id, count: count + 1 });
}

function entriesOf({ id, type }: Key, row: Row | undefined): HistoryEntry[] {
  if (row?.heads == null || row.bodies === null) return [];
  const bodies = row.bodies.split('\n');
  return row.heads.split(',').map((head, index) => {
    const [version, recordedAt, operation] = head.split(' ');
    return {
      id,
      type,
      version: Number(version),
      recordedAt: Number(recordedAt),
      operation: operation === 'CREATE' || operation === 'DELETE' ? operation : 'UPDATE',
      body: bodies[index] || null,
    };
  });
}
