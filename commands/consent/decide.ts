/** Decisions about a record's grants and links. Pure. Rules: docs/spec/decisions.md, section 9. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { dependentLink, grantKey, SELF_LINK } from '#src/events/snapshot-entries.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import type { Granted, LinkedVia, NewGrant, Relationship, RevokeReason, UnlinkReason } from './consents.ts';
import {
  activeGrants,
  activeSharedLinks,
  type GrantedData,
  granted,
  type HeldLink,
  heldGrant,
  heldLink,
  isSame,
  linked,
  listLinks,
  shared,
} from './held.ts';
import type { Conclude, Concluded } from './on-record.ts';

const DAY = 86_400_000_000;

/** The ids of a new grant. */
export type GrantIds = Omit<Granted, 'expiresAt'>;

/**
 * Returns the keys of the entries that a decision about a new grant depends on.
 * @param grantId the new grant's id
 */
export function grantKeys({ application, person }: NewGrant, grantId: string): string[] {
  return [grantKey(application.id, person), SELF_LINK, dependentLink(person), grantId];
}

/**
 * Gives access, and ends the active grant that the new grant replaces. In the sandbox a person may also be linked without an
 * event (section 9, "Sandbox"): they are refused only if their link was ended. An existing grant with the same id is kept,
 * even if it has ended, because the call then repeats the same decision.
 * @param environment the record's environment
 */
export function grant(asked: NewGrant, ids: GrantIds, environment: Environment): Conclude<Granted> {
  return (state, past, at) => {
    const { record, person, application, scopes, purpose, days, grantedBy, lang, sentences } = asked;
    const same = findEntry(state, ids.grantId);
    if (same !== undefined) {
      const { patient, subject, expires_at } = granted(past(same.revision));
      return { events: [], result: { grantId: ids.grantId, patient, subject, expiresAt: expires_at } };
    }
    requireLive(state, record);
    const links = listLinks(state, past, person);
    const isLinked = isLinkedNow(links, environment);
    if (application.environment !== environment || !isLinked) throw notFound('Patient', record);
    const before = heldGrant(state, past, grantKey(application.id, person));
    const expiresAt = toInstant(at + days * DAY);
    const data: GrantedData = {
      grant_id: ids.grantId,
      person: only(person),
      application_id: application.id,
      project_id: application.project,
      environment,
      sector: application.sector,
      scopes: [...scopes],
      purpose,
      patient: ids.patient,
      subject: ids.subject,
      granted_by: grantedBy,
      expires_at: expiresAt,
      lang,
      sentences: [...sentences],
    };
    return {
      events: [
        ...(before === undefined ? [] : [end(before, at, 'replaced')]),
        { type: 'ConsentGranted', data },
      ],
      result: { ...ids, expiresAt },
    };
  };
}

/** Returns true if one of a person's links to a record is active or, in the sandbox, if the person has no links. */
export function isLinkedNow(links: readonly HeldLink[], environment: Environment): boolean {
  return links.some(({ ended }) => !ended) || (environment === 'sandbox' && links.length === 0);
}

/**
 * Ends a grant for the given reason; does nothing if it has already ended.
 * @throws Refusal not_found
 */
export function revoke(record: string, grantId: string, reason: RevokeReason, note?: string): Conclude<void> {
  return onGrant(record, grantId, (data, at) => [end(data, at, reason, note)]);
}

/**
 * Records that a grant has expired; does nothing if it hasn't expired yet or has already ended.
 * @throws Refusal not_found
 */
export function expire(record: string, grantId: string): Conclude<void> {
  return onGrant(record, grantId, (data, at) => (isOver(data, at) ? [expired(data)] : []));
}

function onGrant(
  record: string,
  grantId: string,
  events: (data: GrantedData, at: Micros) => PlainEvent[],
): Conclude<void> {
  return (state, past, at) => {
    const entry = findEntry(state, grantId);
    if (entry?.type !== 'Grant') throw notFound('grant', `${record}/${grantId}`);
    return entry.deleted ? NOTHING : { events: events(granted(past(entry.revision)), at), result: undefined };
  };
}

/** Returns the keys of the entries that a decision about a new link depends on. */
export function linkKeys(person: PersonId, linkId: string): string[] {
  return [SELF_LINK, dependentLink(person), linkId];
}

/**
 * Links a person to a record. A person needs only one link: a second request changes nothing.
 * @throws Refusal conflict for a second `self`, or a person who already has the other kind of link; not_found or conflict in
 * the same cases as `requireLive`
 */
export function link(
  record: string,
  data: { readonly linkId: string; readonly person: PersonId; readonly via: LinkedVia } & {
    readonly relationship: Relationship;
  },
): Conclude<{ readonly linkId: string }> {
  return (state, past) => {
    const { linkId, person, relationship, via } = data;
    requireLive(state, record);
    const own = listLinks(state, past, person).find(({ ended }) => !ended);
    if (own?.relationship === relationship) return { events: [], result: { linkId: own.link_id } };
    // Two people who use the same invitation request the same link id; the second gets nothing, even if the first was
    // unlinked.
    if (findEntry(state, linkId) !== undefined) throw notFound('link', linkId);
    if (own !== undefined)
      throw conflict(`the person is linked to this record already, as ${own.relationship}`);
    const self = heldLink(state, past, SELF_LINK);
    if (relationship === 'self' && self !== undefined && !self.ended)
      throw conflict('another person is linked to this record as self; the project must end that link first');
    return {
      events: [{ type: 'RecordLinked', data: { link_id: linkId, person: only(person), relationship, via } }],
      result: { linkId },
    };
  };
}

/**
 * Ends a link, and with it the person's grants and shared links; does nothing if it has already ended.
 * @throws Refusal not_found
 */
export function unlink(record: string, linkId: string, reason: UnlinkReason): Conclude<void> {
  return (state, past, at) => {
    const entry = findEntry(state, linkId);
    if (entry?.type !== 'Link') throw notFound('link', `${record}/${linkId}`);
    if (entry.deleted) return NOTHING;
    const { person } = linked(past(entry.revision));
    const grants = activeGrants(state).map((revision) => granted(past(revision)));
    const links = activeSharedLinks(state).map((revision) => shared(past(revision)));
    return {
      events: [
        { type: 'RecordUnlinked', data: { link_id: linkId, reason } },
        ...grants.filter((data) => isSame(data.person, person)).map((data) => end(data, at, 'link_ended')),
        ...links
          .filter((data) => isSame(data.person, person))
          .map(({ link_id }): PlainEvent => {
            return { type: 'SharedLinkEnded', data: { link_id, reason: 'link_ended' } };
          }),
      ],
      result: undefined,
    };
  };
}

/** Ends all of the record's grants. The state must contain all of them. */
export function revokeAll(reason: RevokeReason): Conclude<void> {
  return (state, past, at) => ({
    events: activeGrants(state).map((revision) => end(granted(past(revision)), at, reason)),
    result: undefined,
  });
}

/** Returns the event that ends a grant: if the grant's time has run out, it is recorded as expired, whatever the reason. */
function end(data: GrantedData, at: Micros, reason: RevokeReason, note?: string): PlainEvent {
  if (isOver(data, at)) return expired(data);
  const { grant_id, application_id, project_id, environment, patient, scopes, purpose, expires_at } = data;
  return {
    type: 'ConsentRevoked',
    data: {
      grant_id,
      application_id,
      project_id,
      environment,
      patient,
      scopes,
      purpose,
      expires_at,
      reason,
      ...(note === undefined ? {} : { note }),
    },
  };
}

function expired({ grant_id, application_id, project_id, environment }: GrantedData): PlainEvent {
  return { type: 'ConsentExpired', data: { grant_id, application_id, project_id, environment } };
}

function isOver({ expires_at }: GrantedData, at: Micros): boolean {
  return at >= toMicros(expires_at);
}

/**
 * Checks that a record has a live Patient.
 * @throws Refusal not_found for a missing record; conflict while its Patient is deleted
 */
export function requireLive(state: Resources, record: string): void {
  const patient = findEntry(state, record);
  if (patient?.type !== 'Patient') throw notFound('Patient', record);
  if (patient.deleted) throw conflict(`Patient/${record} is deleted`);
}

function conflict(diagnostics: string): Refusal {
  return new Refusal('conflict', { code: 'conflict', diagnostics });
}

/** Returns only those members of a person that events contain. */
export function only({ issuer, subject }: PersonId): PersonId {
  return { issuer, subject };
}

const NOTHING: Concluded<void> = { events: [], result: undefined };
