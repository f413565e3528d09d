/** The active grants, links and shared links in a record's state. Pure. */
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import { dependentLink, SELF_LINK } from '#src/events/snapshot-entries.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import type { Past } from './on-record.ts';

export type GrantedData = Extract<PlainEvent, { type: 'ConsentGranted' }>['data'];
export type LinkedData = Extract<PlainEvent, { type: 'RecordLinked' }>['data'];

export type SharedLinkData = Extract<PlainEvent, { type: 'SharedLinkCreated' }>['data'];

/** A link with the data from the newest event that started it. */
export interface HeldLink extends LinkedData {
  readonly ended: boolean;
}

/** Returns the revision of the event that started the entry with the given key or id; undefined without such an entry. */
export function begunAt(state: Resources, key: string): number | undefined {
  return findEntry(state, key)?.revision;
}

/** Returns the revisions that the keys point to. */
export function listRevisions(state: Resources, keys: readonly string[]): number[] {
  return keys.flatMap((key) => begunAt(state, key) ?? []);
}

/** Returns the grant under a key that no event has ended, even if its time has run out; undefined if there is none. */
export function heldGrant(state: Resources, past: Past, key: string): GrantedData | undefined {
  const revision = begunAt(state, key);
  const data = revision === undefined ? undefined : granted(past(revision));
  return data === undefined || findEntry(state, data.grant_id)?.deleted !== false ? undefined : data;
}

/** Returns the newest link under a key, even if it has ended. */
export function heldLink(state: Resources, past: Past, key: string): HeldLink | undefined {
  const revision = begunAt(state, key);
  const data = revision === undefined ? undefined : linked(past(revision));
  return data && { ...data, ended: findEntry(state, data.link_id)?.deleted !== false };
}

/** Returns a person's links to the record: the newest of each kind, even if it has ended. */
export function listLinks(state: Resources, past: Past, person: PersonId): HeldLink[] {
  return [SELF_LINK, dependentLink(person)].flatMap((key) => {
    const link = heldLink(state, past, key);
    return link !== undefined && isSame(link.person, person) ? [link] : [];
  });
}

/** Returns the revisions of the events that started the active grants; the state must contain all grants. */
export function activeGrants({ entries }: Resources): number[] {
  return [...entries].flatMap(([key, entry]) =>
    entry?.type === 'Grant' && !entry.deleted && key.startsWith('grant_') ? [entry.revision] : [],
  );
}

/** Returns the revisions of the events that started the active shared links; the state must contain all shared links. */
export function activeSharedLinks({ entries }: Resources): number[] {
  return [...entries.values()].flatMap((entry) =>
    entry?.type === 'SharedLink' && !entry.deleted ? [entry.revision] : [],
  );
}

/**
 * Returns the data from a shared link's first event.
 * @throws TypeError for any other event
 */
export function shared(event: DomainEvent): SharedLinkData {
  if (event.type !== 'SharedLinkCreated') throw new TypeError(`${event.type} does not begin a shared link`);
  return event.data;
}

/**
 * Returns the data from a grant's first event.
 * @throws TypeError for any other event
 */
export function granted(event: DomainEvent): GrantedData {
  if (event.type !== 'ConsentGranted') throw new TypeError(`${event.type} does not begin a grant`);
  return event.data;
}

/**
 * Returns the data from a link's first event.
 * @throws TypeError for any other event
 */
export function linked(event: DomainEvent): LinkedData {
  if (event.type !== 'RecordLinked') throw new TypeError(`${event.type} does not begin a link`);
  return event.data;
}

/** Returns true if two identities are the same person. */
export function isSame(a: PersonId, b: PersonId): boolean {
  return a.issuer === b.issuer && a.subject === b.subject;
}
