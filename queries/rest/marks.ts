/** Who wrote the versions that REST v1 shows, and when their resources were created (decisions.md, section 4). */
import type { Pool } from 'pg';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { Caller } from '#src/shared/caller.ts';
import type { Micros } from '#src/shared/time.ts';

/** A version of a resource. */
export interface VersionOf {
  readonly id: string;
  readonly version: number;
}

/** What its event says beside its body. */
export interface Mark {
  /** When version 1 was recorded. */
  readonly created: Micros;
  readonly metadata: EventMetadata;
}

/** Finds them by the resource's id; what the read model `history` does not show yet is absent. */
export type Marks = (caller: Caller, versions: readonly VersionOf[]) => Promise<ReadonlyMap<string, Mark>>;

// Index: primary key of history.version (id, version), twice for each.
const MARKS = `
  select v.id, v.metadata, f.recorded_at as created
  from unnest($1::uuid[], $2::int[]) k(id, version)
  join history.version v on v.id = k.id and v.version = k.version and v.tenant = $3
  join history.version f on f.id = k.id and f.version = 1`;

/** Opens it over a database. */
export function openMarks(pool: Pool): Marks {
  return async (caller, versions) => {
    if (versions.length === 0) return new Map();
    const { rows } = await pool.query<{ id: string; metadata: string; created: Micros }>({
      name: 'rest-marks',
      text: MARKS,
      values: [versions.map(({ id }) => id), versions.map(({ version }) => version), caller.tenantId],
    });
    return new Map(
      rows.map(({ id, metadata, created }) => [
        id,
        { created, metadata: JSON.parse(metadata) as EventMetadata },
      ]),
    );
  };
}
