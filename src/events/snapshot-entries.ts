/**
 * Defines the entries of a stream's state, as snapshots store them: one line for each resource, grant, link and shared link.
 * Decisions use nothing else from a record or directory.
 *
 * Grants and links have entries, as resources do. An entry that must be unique has a key that points to the event that began
 * it: (application, person) for a grant, `self` for the self link, the person for a dependent link. The id of each grant and
 * link has an entry too, which says whether the grant or link has ended, because events that end one contain only the id.
 *
 * A proposal has two entries: one under its id, and one under its place among the proposals that are waiting under the same
 * grant. The events that end the proposal name both. So the places show how many proposals are waiting, without reading any
 * event.
 */
import { hash } from 'node:crypto';
import type { PersonId } from '../shared/access/identity.ts';
import type { DomainEvent } from './catalog.ts';
import type { EventOf } from './streams.ts';

/** A resource, grant, link, shared link or proposal, with the data about it that decisions need. */
export interface Entry {
  /** A resource type, or `Grant`, `Link`, `SharedLink` or `Proposal`. */
  readonly type: string;
  /** A resource's FHIR version; 1 for other entries. */
  readonly version: number;
  /** True for a deleted resource, and for a grant, link or proposal that has ended. */
  readonly deleted: boolean;
  /**
   * For a resource, the revision of the event that wrote this version and contains its body. For other entries, the revision
   * of the event that began or ended the entry.
   */
  readonly revision: number;
}

/**
 * Returns the entries that an event changes, by key, in their state after the event; none for events in other kinds of
 * streams.
 */
export function entriesIn(event: DomainEvent, revision: number): readonly (readonly [string, Entry])[] {
  switch (event.type) {
    case 'ResourceCreated':
    case 'ResourceUpdated':
    case 'ResourceDeleted':
      return [[event.resourceId, resourceEntry(event, revision)]];
    case 'RecordLinked':
    case 'RecordUnlinked':
    case 'ConsentGranted':
    case 'ConsentRevoked':
    case 'ConsentExpired':
    case 'SharedLinkCreated':
    case 'SharedLinkEnded':
      return consentEntriesIn(event, revision);
    case 'ProposalMade':
    case 'ProposalAccepted':
    case 'ProposalRejected':
    case 'ProposalWithdrawn':
    case 'ProposalSuperseded':
    case 'ProposalExpired':
      return proposalEntriesIn(event, revision);
    default:
      event satisfies Exclude<DomainEvent, EventOf<'record' | 'directory'>> | Unkept;
      return [];
  }
}

/** Events in records that decisions never look up. */
type Unkept = Extract<DomainEvent, { type: 'DocumentFinalized' | 'DirectoryEntriesCarried' }>;

function resourceEntry({ type, ...event }: EventOf<'directory'>, revision: number): Entry {
  return { type: event.resourceType, version: event.version, deleted: type === 'ResourceDeleted', revision };
}

/** Events that begin a grant, link or shared link. */
const BEGINNINGS = ['RecordLinked', 'ConsentGranted', 'SharedLinkCreated'] as const;

/** An event about a grant, link or shared link. */
type ConsentEvent = Extract<
  EventOf<'record'>,
  {
    type:
      | (typeof BEGINNINGS)[number]
      | 'RecordUnlinked'
      | 'ConsentRevoked'
      | 'ConsentExpired'
      | 'SharedLinkEnded';
  }
>;

/**
 * Requests all grants, links and shared links from a state, in place of an id. It is needed because a state built from a
 * snapshot contains only the requested entries.
 */
export const ALL_CONSENT = 'consent/*';

/** The key of a record's self link. */
export const SELF_LINK = 'link/self';

/** Returns the key of a person's dependent link. */
export const dependentLink = (person: PersonId): string => `link/${personHash(person)}`;

/** Returns the key of a grant that a person has given to an application. */
export const grantKey = (applicationId: string, person: PersonId): string =>
  `grant/${applicationId}/${personHash(person)}`;

/** Returns 128 bits of a hash over issuer and subject as 22 URL-safe characters. */
function personHash({ issuer, subject }: PersonId): string {
  return hash('sha256', JSON.stringify([issuer, subject]), 'buffer')
    .subarray(0, 16)
    .toString('base64url');
}

/** Returns the entries as they are after an event, by key. */
function consentEntriesIn(event: ConsentEvent, revision: number): readonly (readonly [string, Entry])[] {
  const [type, id, ...keys] = touched(event);
  const deleted = !BEGINNINGS.some((begins) => begins === event.type);
  const entry = { type, version: 1, deleted, revision };
  return [id, ...keys].map((key) => [key, entry]);
}

/** Returns the type of the entries, the id and, if the event begins an entry with a unique key, that key. */
function touched(event: ConsentEvent): ['Grant' | 'Link' | 'SharedLink', string, ...string[]] {
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
    case 'SharedLinkCreated':
    case 'SharedLinkEnded':
      return ['SharedLink', event.data.link_id];
  }
}

/** An event about a proposal. */
type ProposalEvent = Extract<EventOf<'record'>, { type: `Proposal${string}` }>;

/** The maximum number of proposals that may be waiting under one grant. */
export const PROPOSAL_PLACES = 100;

/**
 * Returns the key of a place at which a proposal waits under a grant.
 * @param place counted from 0
 */
export const proposalPlace = (grantId: string, place: number): string => `proposal/${grantId}/${place}`;

/** Returns the two entries of a proposal after an event: under its id, and under its place. */
function proposalEntriesIn({ type, data }: ProposalEvent, revision: number) {
  const entry: Entry = { type: 'Proposal', version: 1, deleted: type !== 'ProposalMade', revision };
  return [data.proposal_id, proposalPlace(data.grant_id, data.place)].map((key) => [key, entry] as const);
}
