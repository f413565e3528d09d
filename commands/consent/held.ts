/** Grants, links and shared links that a record's state holds and that have not ended. Pure. */
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import { dependentLink, SELF_LINK } from '#src/events/snapshot-entries.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import type { Past } from './on-record.ts';

export type GrantedData = Extract<PlainEvent, { type: 'ConsentGranted' }>['data'];
export type LinkedData = Extract<PlainEvent, { type: 'RecordLinked' }>['data'];

export type SharedLinkData = Extract<PlainEvent, { type: 'SharedLinkCreated' }>['data'];

/** A link with the data of the newest event that began it. */
export interface HeldLink extends LinkedData {
  readonly ended: boolean;
}

/** Returns the revision of the event that began the entry of a key or id; undefined if there is none. */
export function begunAt(state: Resources, key: string): number | undefined {
  return findEntry(state, key)?.revision;
}

/** Returns the revisions to which keys point. */
export function listRevisions(state: Resources, keys: readonly string[]): number[] {
  return keys.flatMap((key) => begunAt(state, key) ?? []);
}

/** Returns the grant that is active under a key, by its clock or not; undefined if there is none. */
export function heldGrant(state: Resources, past: Past, key: string): GrantedData | undefined {
  const revision = begunAt(state, key);
  const data = revision === undefined ? undefined : granted(past(revision));
  return data === undefined || findEntry(state, data.grant_id)?.deleted !== false ? undefined : data;
}

/** Returns the newest link under a key, also one that has ended. */
export function heldLink(state: Resources, past: Past, key: string): HeldLink | undefined {
  const revision = begunAt(state, key);
  const data = revision === undefined ? undefined : linked(past(revision));
  return data && { ...data, ended: findEntry(state, data.link_id)?.deleted !== false };
}

/** Returns a person's links on the record, newest of each kind, also those that have ended. */
export function listLinks(state: Resources, past: Past, person: PersonId): HeldLink[] {
  return [SELF_LINK, dependentLink(person)].flatMap((key) => {
    const link = heldLink(state, past, key);
    return link !== undefined && isSame(link.person, person) ? [link] : [];
  });
}

/** Returns the revisions of the events that began the grants which have not ended; the state must hold all grants. */
export function activeGrants({ entries }: Resources): number[] {
  return [...entries].flatMap(([key, entry]) =>
    entry?.type === 'Grant' && !entry.deleted && key.startsWith('grant_') ? [entry.revision] : [],
  );
}

/** Returns the revisions of the events that began the shared links which have not ended; the state must hold all. */
export function activeSharedLinks({ entries }: Resources): number[] {
  return [...entries.values()].flatMap((entry) =>
    entry?.type === 'SharedLink' && !entry.deleted ? [entry.revision] : [],
  );
}

/** Returns the data of a shared link's first event. @throws TypeError for another event */
export function shared(event: DomainEvent): SharedLinkData {
  if (event.type !== 'SharedLinkCreated') throw new TypeError(`${event.type} does not begin a shared link`);
  return event.data;
}

/** Returns the data of a grant's first event. @throws TypeError for another event */
export function granted(event: DomainEvent): GrantedData {
  if (event.type !== 'ConsentGranted') throw new TypeError(`${event.type} does not begin a grant`);
  return event.data;
}

/** Returns the data of a link's first event. @throws TypeError for another event */
export function linked(event: DomainEvent): LinkedData {
  if (event.type !== 'RecordLinked') throw new TypeError(`${event.type} does not begin a link`);
  return event.data;
}

/** Tells whether two identities are the same person. */
export function isSame(a: PersonId, b: PersonId): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}
