/**
 * Grants and links in the state of a record: entries beside resources, so that snapshots cover them. What must be unique
 * has a key that points to the event that began it: (application, person) for a grant, `self` for the self link, the
 * person for a dependent link. The id of each grant and link has an entry too, which says whether it has ended; events
 * that end one name nothing but the id.
 */
import { hash } from 'node:crypto';
import type { EventOf } from '#src/events/kinds.ts';
import type { PersonId } from '#src/shared/identity.ts';
import type { Entry } from '../command.ts';

/** An event about a grant or link. */
export type ConsentEvent = Extract<
  EventOf<'record'>,
  { type: 'RecordLinked' | 'RecordUnlinked' | 'ConsentGranted' | 'ConsentRevoked' | 'ConsentExpired' }
>;

/** Types of the entries of grants and links; no resource type has these names. */
export const CONSENT_TYPES = ['Grant', 'Link'] as const;

/**
 * Asks a state for all grants and links, in place of an id: states that were built from a snapshot hold only the
 * entries that were asked for.
 */
export const ALL_CONSENT = 'consent/*';

/** The key of a record's self link. */
export const SELF_LINK = 'link/self';

/** Returns the key of a person's dependent link. */
export const dependentLink = (person: PersonId): string => `link/${personHash(person)}`;

/** Returns the key of an application's grant by a person. */
export const grantKey = (applicationId: string, person: PersonId): string =>
  `grant/${applicationId}/${personHash(person)}`;

/** Returns the end of the keys of all grants by a person. */
export const grantsBy = (person: PersonId): string => `/${personHash(person)}`;

/** Returns 128 bits of a hash of issuer and subject, as 22 URL-safe characters. */
function personHash({ issuer, subject }: PersonId): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'buffer')
    .subarray(0, 16)
    .toString('base64url');
}

/** Returns the entries after an event, by key. */
export function consentEntriesIn(
  event: ConsentEvent,
  revision: number,
): readonly (readonly [string, Entry])[] {
  const [type, id, ...keys] = touched(event);
  const deleted = event.type !== 'RecordLinked' && event.type !== 'ConsentGranted';
  const entry = { type, version: 1, deleted, revision };
  return [id, ...keys].map((key) => [key, entry]);
}

/** Returns the type of the entries, the id, and what must be unique where the event begins it. */
function touched(event: ConsentEvent): ['Grant' | 'Link', string, ...string[]] {
  switch (event.type) {
    case 'RecordLinked': {
      const { link_id, person, relationship } = event.data;
      return ['Link', link_id, relationship === 'self' ? SELF_LINK : dependentLink(person)];
    }
    case 'RecordUnlinked':
      return ['Link', event.data.link_id];
    case 'ConsentGranted':
      return ['Grant', event.data.grant_id, grantKey(event.data.application_id, event.data.person)];
    case 'ConsentRevoked':
    case 'ConsentExpired':
      return ['Grant', event.data.grant_id];
  }
}
