/**
 * Reads who wrote the versions that REST v1 shows, and when these resources were created (docs/spec/decisions.md, section 4).
 */
import type { Pool } from 'pg';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Line } from '../database/gather.ts';
import type { Asks } from '../database/prepared.ts';
import { bodyOrSize, type CurrentResource, type ResourceRow, resourceByKey, wholeResource } from '../read.ts';

/** A version of a resource. */
export interface VersionOf {
  readonly id: string;
  readonly version: number;
}

/** The content of a version's event, except the body. */
export interface Mark {
  /** The time at which version 1 was recorded. */
  readonly created: Micros;
  readonly metadata: EventMetadata;
}

/** Returns the marks by resource id; versions that the read model `history` doesn't show yet are absent. */
export type Marks = (caller: Caller, versions: readonly VersionOf[]) => Promise<ReadonlyMap<string, Mark>>;

// Index: primary key of history.version (id, version), twice for each.
const MARKS = `
  select v.id, v.metadata, f.recorded_at as created
  from unnest($1::uuid[], $2::int[]) k(id, version)
  join history.version v on v.id = k.id and v.version = k.version and v.tenant = $3
  join history.version f on f.id = k.id and f.version = 1`;

/** Creates the reader of marks on a database. */
export function openMarks(pool: Pool): Marks {
  return async (caller, versions) => {
    if (versions.length === 0) return new Map();
    const { rows } = await pool.query<{ id: string; metadata: string; created: Micros }>({
      name: 'rest-marks',
      text: MARKS,
      values: [versions.map(({ id }) => id), versions.map(({ version }) => version), caller.sees.ownerId],
    });
    return new Map(
      rows.map(({ id, metadata, created }) => [
        id,
        { created, metadata: JSON.parse(metadata) as EventMetadata },
      ]),
    );
  };
}

/**
 * A resource's current version with the mark from its event; the mark is absent while `history` doesn't contain the version
 * yet.
 */
export type MarkedResource = CurrentResource & { readonly mark?: Mark };

/** Like `Read`, but also reads the mark, in the same round trip. */
export type ReadMarked = (
  caller: Caller,
  type: ResourceType,
  id: string,
) => Promise<MarkedResource | undefined>;

type MarkedRow = [...ResourceRow, metadata: string | null, created: Micros | null];

// Index: primary keys of resources.resource (id) and of history.version (id, version), this twice for each.
const MARKED = {
  columns: `r.id, r.tenant, r.type, r.version, r.last_updated, ${bodyOrSize('r.body')} as body, v.metadata, f.recorded_at`,
  joins: `
  left join history.version v on v.id = r.id and v.version = r.version
  left join history.version f on f.id = r.id and f.version = 1`,
};

/** Creates reads with marks on a line; large bodies are read on a pool. */
export function openReadMarked(line: Pick<Line, 'gather'>, pool: Asks): ReadMarked {
  const byKey = resourceByKey<MarkedRow>(line, pool, 'rest-read', MARKED);
  return async (caller, type, id) => {
    if (!isUuid(id)) return undefined;
    const row = await byKey(caller.sees, type, id);
    if (row === undefined) return undefined;
    const [, , , version, lastUpdated, body, metadata, created] = row;
    const known = metadata !== null && created !== null;
    const mark = known ? { created, metadata: JSON.parse(metadata) as EventMetadata } : undefined;
    const found = { id, type, version, lastUpdated, body, ...(mark === undefined ? {} : { mark }) };
    return wholeResource(pool, caller.sees, found);
  };
}
