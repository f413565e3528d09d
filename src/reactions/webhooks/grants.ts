/**
 * Grants as recorded in the log. Whether a grant is active depends only on the time. The times of a record's events strictly
 * increase, so the answer for an event never changes. Pure.
 */
import type { StoredEvent } from '#src/events/catalog.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { Sector } from '#src/shared/access/sector.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';

/** The facts about a grant from `ConsentGranted`. */
export interface Given extends Sector {
  /** The Patient's pairwise id. */
  readonly patient: string;
  readonly scopes: readonly string[];
  readonly grantedAt: Micros;
  readonly expiresAt: Micros;
}

/** The facts about a grant from the events that were followed so far. */
export interface KnownGrant {
  readonly grantId: string;
  /** The id of the record's Patient. */
  readonly record: string;
  /** Null if only the grant's end is known, because its first event is parked. */
  readonly given: Given | null;
  /** Null until an event ends the grant; the grant may have expired earlier. */
  readonly endedAt: Micros | null;
}

/** Types of events about grants. */
export const GRANT_TYPES: ReadonlySet<string> = new Set([
  'ConsentGranted',
  'ConsentRevoked',
  'ConsentExpired',
]);

/** Returns what an event says about a grant; undefined for events that aren't about grants. */
export function grantIn({ event, stream, metadata }: StoredEvent): KnownGrant | undefined {
  const record = recordPatient(stream);
  if (record === undefined) return undefined;
  const at = toMicros(metadata.recorded_at);
  if (event.type === 'ConsentRevoked' || event.type === 'ConsentExpired')
    return { grantId: event.data.grant_id, record, given: null, endedAt: at };
  if (event.type !== 'ConsentGranted') return undefined;
  const { grant_id: grantId, project_id: project, environment, sector, patient, scopes } = event.data;
  const expiresAt = toMicros(event.data.expires_at);
  const given = { project, environment, sector, patient, scopes, grantedAt: at, expiresAt };
  return { grantId, record, given, endedAt: null };
}

/** Combines facts about one grant from two sources, in any order. */
export function together(one: KnownGrant, other: KnownGrant | undefined): KnownGrant {
  if (other === undefined) return one;
  const ends = [one.endedAt, other.endedAt].filter((end) => end !== null);
  return {
    ...one,
    given: one.given ?? other.given,
    endedAt: ends.length === 0 ? null : Math.min(...ends),
  };
}

/** Returns the grant's facts if it was active at the given time. */
export function heldAt({ given, endedAt }: KnownGrant, at: Micros): Given | undefined {
  if (given === null || at <= given.grantedAt || at >= given.expiresAt) return undefined;
  return endedAt === null || at < endedAt ? given : undefined;
}
