/** Reads the versions of a take-back's resources from the read model `history`. */
import type { Pool } from 'pg';
import { isSelected, listTexts, type Selection } from '#commands/takeback/selection.ts';
import type { PastResource, PastVersion } from '#commands/takeback/steps.ts';
import type { EventMetadata } from '#src/events/metadata.ts';
import { withAiLabel, withoutAiLabel } from '#src/shared/access/ai-label.ts';
import { isByAi } from '#src/shared/access/caller.ts';
import { parseStored, printJson } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** A version that is selected. */
export interface FoundVersion {
  readonly id: string;
  readonly version: number;
  readonly record: string | null;
  readonly at: Micros;
}

interface Row {
  readonly id: string;
  readonly type: string;
  readonly version: number;
  readonly record: string | null;
  readonly recorded_at: number;
  readonly event_id: string;
  readonly operation: string;
  readonly metadata: string;
  readonly found: boolean;
}

/** Number of index rows to read in one statement. */
const AT_A_TIME = 2_000;

/**
 * Yields a tenant's selected versions, a few at a time, and how many versions have been examined. Index: version_of_tenant
 * (tenant, type, recorded_at, event_id).
 */
export async function* findSelected(
  pool: Pool,
  tenant: string,
  selection: Selection,
): AsyncGenerator<{ readonly looked: number; readonly found: readonly FoundVersion[] }> {
  const texts = listTexts(selection);
  const contained = texts.map((_, n) => `strpos(metadata, $${n + 6}) > 0`).join(' and ') || 'true';
  const text = `
    select id, type, version, recorded_at, event_id, record, ${contained} as found,
      case when ${contained} then metadata end as metadata
    from history.version
    where tenant = $1 and (type, recorded_at, event_id) > ($2, $3, $4::uuid)
    order by type, recorded_at, event_id limit $5`;
  let after: readonly [string, number, string] = ['', 0, '00000000-0000-0000-0000-000000000000'];
  for (;;) {
    const { rows } = await pool.query<Row>(text, [tenant, ...after, AT_A_TIME, ...texts]);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = [last.type, last.recorded_at, last.event_id];
    const found = rows.flatMap(({ id, version, record, recorded_at: at, metadata, found: contains }) =>
      contains && isSelected(selection, { at, metadata: readMetadata(metadata) })
        ? [{ id, version, record, at }]
        : [],
    );
    yield { looked: rows.length, found };
    if (rows.length < AT_A_TIME) return;
  }
}

/** Reads all versions of the given resources. Index: the primary key of history.version (id, version). */
export async function readResources(pool: Pool, ids: readonly string[]): Promise<readonly PastResource[]> {
  const { rows } = await pool.query<Row>(
    `select id, type, version, recorded_at, operation, metadata from history.version
      where id = any($1::uuid[]) order by id, version`,
    [ids],
  );
  const all = new Map<string, { readonly type: string; readonly versions: PastVersion[] }>();
  for (const { id, type, recorded_at: at, operation, metadata, version } of rows) {
    const known = all.get(id) ?? { type, versions: [] };
    known.versions.push({
      version,
      isDeletion: operation === 'DELETE',
      at,
      metadata: readMetadata(metadata),
    });
    all.set(id, known);
  }
  // A version that the read model doesn't have yet would be missing from this result.
  return [...all].map(([id, { type, versions }]) => ({ id, type, versions }));
}

/** Reads the texts of versions as they are in the log, by `id/version`. */
export async function readBodies(
  pool: Pool,
  versions: readonly { readonly id: string; readonly version: number }[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ id: string; version: number; body: string; metadata: string }>(
    `select v.id, v.version, v.body, v.metadata from unnest($1::uuid[], $2::int[]) as x(id, version)
       join history.version v on v.id = x.id and v.version = x.version where v.body is not null`,
    [versions.map(({ id }) => id), versions.map(({ version }) => version)],
  );
  return new Map(
    rows.map(({ id, version, body, metadata }) => [
      `${id}/${version}`,
      isByAi(readMetadata(metadata)) ? written(body) : body,
    ]),
  );
}

/**
 * Counts a record's current resources other than the given ones. Index: resource_of_record.
 * @param since if set, counts only resources that were written after this version of the Patient
 */
export async function countOthers(
  pool: Pool,
  record: string,
  ids: readonly string[],
  since: number | null,
): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::int from resources.resource where record = $1 and not deleted and not (id = any($2::uuid[]))
       and ($3::int is null or last_updated > (select recorded_at from history.version where id = $1 and version = $3))`,
    [record, ids, since],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Returns what an AI wrote, without the label that is added when a version is read. If the same label wouldn't be added again,
 * returns the text unchanged.
 */
function written(body: string): string {
  const bare = printJson(withoutAiLabel(parseStored(body)));
  return withAiLabel(bare) === body ? bare : body;
}

function readMetadata(text: string): EventMetadata {
  return JSON.parse(text) as EventMetadata;
}
