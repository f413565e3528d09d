/** Reads all versions of a resource in a record, for the provenance summary: docs/spec/interface.md, sections 2.3 and 2.4. */
import type { Pool } from 'pg';
import { z } from 'zod';
import type { EventMetadata } from '#src/events/metadata.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { decodeCursorFor, encodeCursorFor } from '../cursor.ts';
import { prepared } from '../database/prepared.ts';
import { readWriters, type Writer } from '../provenance/writers.ts';
import { andSeen, bindTo } from '../sight.ts';

export interface RecordedVersion {
  readonly version: number;
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE';
  readonly recorded: Micros;
  /** The event's id, which is also the id of the version's Provenance. */
  readonly eventId: string;
  readonly metadata: EventMetadata;
  readonly writer: Writer;
}

/** A page of versions, newest first. */
export interface VersionsPage {
  readonly versions: readonly RecordedVersion[];
  readonly total: number;
  readonly next: string | undefined;
}

/**
 * Returns the versions; undefined if the record contains no such resource, or the caller isn't allowed to see it.
 * @throws Refusal invalid (422) for a cursor that isn't from this list
 */
export type Versions = (
  caller: Caller,
  of: { readonly patient: string; readonly type: ResourceType; readonly id: string },
  page: { readonly limit: number; readonly cursor?: string | undefined },
) => Promise<VersionsPage | undefined>;

const place = z.tuple([z.int()]);

/** The letter that a grant must have on both Provenance and the resource: the summary is a list of Provenances. */
const LETTER = 's';

/**
 * Returns the statement. Index: primary key of history.version (id, version), backwards. Versions have no gaps, so the newest
 * number is the total. Under a grant, only the versions that the grant covers are counted.
 * @param seen returns the condition on versions, given their alias; empty without a grant
 */
const versions = (seen: (as: string) => string): string => {
  const counted = seen('n');
  return `
  select v.version, v.operation, v.recorded_at, v.event_id, v.metadata, (
    select ${counted === '' ? 'max(n.version)' : 'count(*)::int'} from history.version n
    where n.id = $1 ${counted}) as total
  from history.version v
  where v.id = $1 and v.tenant = $2 and v.record = $3 and v.type = $4 and v.version < $5 ${seen('v')}
  order by v.version desc limit $6`;
};

interface Row {
  readonly version: number;
  readonly operation: RecordedVersion['operation'];
  readonly recorded_at: Micros;
  readonly event_id: string;
  readonly metadata: string;
  readonly total: number;
}

const FIRST_PAGE = 2 ** 31 - 1;

/** Creates the reader of versions on a database. */
export function openVersions(pool: Pool): Versions {
  return async (caller, { patient, type, id }, { limit, cursor }) => {
    const list = `versions ${id}`;
    const [before] = cursor === undefined ? [FIRST_PAGE] : decodeCursorFor(list, cursor, place);
    if (!isUuid(id) || !isUuid(patient)) return undefined;
    const { sees } = caller;
    const start = Math.min(Math.max(before, 0), FIRST_PAGE);
    const values: unknown[] = [id, sees.ownerId, patient, type, start, limit + 1];
    const bind = bindTo(values);
    const text = versions((as) => andSeen(sees, LETTER, { as, of: 'version', type }, bind));
    const statement =
      sees.within === undefined ? { name: 'rest-versions', text, values } : prepared(text, values);
    const { rows } = await pool.query<Row>(statement);
    const [first] = rows;
    if (first === undefined) return undefined;
    const shown = rows
      .slice(0, limit)
      .map((row) => ({ ...row, metadata: JSON.parse(row.metadata) as EventMetadata }));
    const credentials = shown.map(({ metadata }) => metadata.credential);
    const writers = await readWriters(pool, caller.calls.projectId, credentials);
    return {
      versions: shown.map((row, n) => ({
        version: row.version,
        operation: row.operation,
        recorded: row.recorded_at,
        eventId: row.event_id,
        metadata: row.metadata,
        writer: writers[n] ?? { kind: 'service' },
      })),
      total: first.total,
      next: rows.length > limit ? encodeCursorFor(list, [shown.at(-1)?.version ?? 0]) : undefined,
    };
  };
}
