/** Made-up events about grants and links, for testing the effects of such events. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { NewEvent } from '#src/events/store.ts';
import { newId, newUuid } from '#src/shared/ids.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { BEGAN, made } from '../projections/made.ts';

type DataOf<T extends PlainEvent['type']> = Extract<PlainEvent, { readonly type: T }>['data'];

/** Data of a grant. */
export type GrantData = DataOf<'ConsentGranted'>;

/** Returns a person from a made-up issuer. */
export const person = (subject: string) => ({ issuer: 'https://idp.example', subject });

/** Returns a grant's data; the grant ends 90 days after the first made-up event. */
export function grantData(rest: Partial<GrantData> = {}): GrantData {
  return {
    grant_id: newId('grant_'),
    person: person('mira'),
    application_id: 'app_diary',
    project_id: 'proj_diary',
    environment: 'sandbox',
    sector: 'app_diary',
    scopes: ['patient/Observation.rs'],
    purpose: 'treatment',
    patient: newUuid(),
    subject: 'sub_mira',
    granted_by: 'patient',
    expires_at: toInstant(BEGAN + 90 * 86_400_000_000),
    lang: 'en',
    sentences: ['Read your observations'],
    ...rest,
  };
}

/** `ConsentGranted`. */
export const granted = (data: GrantData): NewEvent => made({ type: 'ConsentGranted', data });

/** `ConsentRevoked`. */
export function revoked(data: GrantData, reason: DataOf<'ConsentRevoked'>['reason'] = 'patient'): NewEvent {
  const { grant_id, application_id, project_id, environment, patient, scopes, purpose, expires_at } = data;
  const rest = { grant_id, application_id, project_id, environment, patient, scopes, purpose, expires_at };
  return made({ type: 'ConsentRevoked', data: { ...rest, reason, note: 'only for the person' } });
}

/** `ConsentExpired`. */
export function expired({ grant_id, application_id, project_id, environment }: GrantData): NewEvent {
  return made({ type: 'ConsentExpired', data: { grant_id, application_id, project_id, environment } });
}

/** `RecordLinked`. */
export function linked(
  subject: string,
  link_id = newId('link_'),
  relationship: 'self' | 'dependent' = 'self',
): NewEvent {
  return made({
    type: 'RecordLinked',
    data: { link_id, person: person(subject), relationship, via: 'invitation' },
  });
}

/** `RecordUnlinked`. */
export const unlinked = (link_id: string): NewEvent =>
  made({ type: 'RecordUnlinked', data: { link_id, reason: 'project' } });

/** Returns `RecordErased`, with the data about grants that it keeps. */
export function erasedWith(patient: string, grants: readonly GrantData[]): NewEvent {
  const at = toInstant(BEGAN);
  const kept = grants.map(({ grant_id, application_id }) => ({
    grant_id,
    application_id,
    granted_at: at,
    ended_at: at,
  }));
  return made({
    type: 'RecordErased',
    data: { patient, environment: 'sandbox', grants: kept, access_log: { entries: 0, hash: null } },
  });
}
