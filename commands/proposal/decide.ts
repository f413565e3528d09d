/** Decisions about proposals of a record. Pure. Rules: docs/spec/decisions.md, section 7. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { dependentLink, PROPOSAL_PLACES, proposalPlace, SELF_LINK } from '#src/events/snapshot-entries.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant, toMicros } from '#src/shared/time/time.ts';
import { granted, listLinks } from '../consent/held.ts';
import type { Conclude, Past } from '../consent/on-record.ts';
import type { Clock, Decision } from '../kernel/decision.ts';
import { decideWrites, type Write } from '../resource/decide.ts';
import { findEntry, type Resources } from '../resource/state.ts';
import { outdated } from '../resource/write-only.ts';
import {
  type EndStatus,
  findLapse,
  hasEnded,
  isGrantActive,
  type MadeData,
  proposalIn,
  statusAfter,
} from './held.ts';
import type { AcceptedVersion, ProposalRef } from './proposals.ts';

/** How long a proposal stays pending, in days. */
export const PROPOSAL_DAYS = 30;
const DAY = 86_400_000_000;

/** A person who decides, and the environment of the record that the decision is about. */
export interface Decider {
  readonly person: PersonId;
  readonly environment: Environment;
}

/** A proposal that has no place and no expiry time yet. */
export type DraftedProposal = Omit<MadeData, 'place' | 'expires_at'>;

/** Returns the keys of the entries that a new proposal depends on, except the entries that its write depends on. */
export function proposalKeys(grantId: string): string[] {
  const places = Array.from({ length: PROPOSAL_PLACES }, (_, place) => proposalPlace(grantId, place));
  return [grantId, ...places];
}

/** Returns the keys of the entries that a person's decision depends on. */
export function deciderKeys(person: PersonId, proposalId: string): string[] {
  return [SELF_LINK, dependentLink(person), proposalId];
}

/**
 * Makes a pending proposal. It is checked like the write that it proposes.
 * @param isShown true if the application may read the type; if false, the application doesn't get the current version
 * @param writes the events that would be written
 * @throws Refusal in the same cases as `decideWrites`; unauthenticated if the grant has ended; conflict if the base version
 * isn't current or no place is free
 */
export function propose(
  state: Resources,
  past: Past,
  clock: Clock,
  isShown: boolean,
  drafted: DraftedProposal,
  writes: readonly Write[],
): MadeData {
  const at = clock.next();
  const { grant_id: grantId, resource_type, resource_id, base_version } = drafted;
  if (!isGrantActive(state, past, grantId, at))
    throw new Refusal(
      'unauthenticated',
      { code: 'login', diagnostics: 'the grant of the access token has ended' },
      { 'WWW-Authenticate': 'Bearer realm="annal", error="invalid_token"' },
    );
  const version = resource_id === undefined ? undefined : findEntry(state, resource_id)?.version;
  if (resource_id !== undefined && version !== base_version)
    throw outdated(
      isShown,
      resource_type,
      resource_id,
      `${resource_type}/${resource_id} is at version ${version}, but the proposal changes version ${base_version}; read it again`,
    );
  // The events aren't needed here, only the refusals.
  decideWrites(state, clock, writes);
  const place = freePlace(state, grantId);
  if (place === undefined)
    throw conflict(
      `${PROPOSAL_PLACES} proposals under this grant are pending, which is the maximum; withdraw some, or wait until the person has decided`,
    );
  const grantEnd = toMicros(granted(past(findEntry(state, grantId)?.revision ?? -1)).expires_at);
  return { ...drafted, place, expires_at: toInstant(Math.min(at + PROPOSAL_DAYS * DAY, grantEnd)) };
}

/** Returns the first place that has no pending proposal. */
function freePlace(state: Resources, grantId: string): number | undefined {
  for (let place = 0; place < PROPOSAL_PLACES; place += 1) {
    if (findEntry(state, proposalPlace(grantId, place))?.deleted !== false) return place;
  }
  return undefined;
}

/** The result of a decision on a proposal. */
export interface Ended {
  readonly status: EndStatus;
  /** The version that resulted from an accepted proposal. */
  readonly accepted?: AcceptedVersion;
}

/**
 * Accepts a proposal: writes its resource and ends the proposal. For a proposal that can no longer be accepted, writes nothing
 * and returns the status with which it must end: the person approved nothing, and `lapse` ends it.
 * @param writes the proposal's only write
 * @param ids draws the id of the n-th event other than the write's
 * @throws Refusal when `decideWrites` would; not_found or conflict when `decidable` would
 */
export function accept(
  state: Resources,
  past: Past,
  clock: Clock,
  asked: ProposalRef & Decider,
  writes: readonly Write[],
  id: string,
): Decision<Ended> {
  const at = clock.next();
  const { data, lapse } = decidable(state, past, asked, at);
  if (lapse !== undefined) return { drafts: [], result: { status: lapse.status } };
  const { drafts, result } = decideWrites(state, clock, writes);
  const [written] = result;
  if (written === undefined) throw new TypeError('a proposal writes one resource');
  const { id: resourceId, version } = written;
  const event: PlainEvent = {
    type: 'ProposalAccepted',
    data: { ...webhookData(data), resource_id: resourceId, version },
  };
  return {
    drafts: [...drafts, { id, at: clock.next(), event }],
    result: { status: 'accepted', accepted: { type: data.resource_type, id: resourceId, version } },
  };
}

/**
 * Rejects a proposal. A proposal that can no longer be accepted ends as superseded or expired.
 * @throws Refusal not_found or conflict in the same cases as `decidable`
 */
export function reject(asked: ProposalRef & Decider, note?: string): Conclude<Ended> {
  return (state, past, at) => {
    const { data, lapse } = decidable(state, past, asked, at);
    if (lapse !== undefined) return { events: [lapse.event], result: { status: lapse.status } };
    const { resource_id } = data;
    const event: PlainEvent = {
      type: 'ProposalRejected',
      data: {
        ...webhookData(data),
        ...(resource_id === undefined ? {} : { resource_id }),
        ...(note === undefined ? {} : { note }),
      },
    };
    return { events: [event], result: { status: 'rejected' } };
  };
}

/**
 * Withdraws a proposal; does nothing if it is already withdrawn. A proposal that can no longer be accepted ends as superseded
 * or expired.
 * @throws Refusal not_found; conflict if it has ended in another way
 */
export function withdraw(asked: ProposalRef): Conclude<Ended> {
  return (state, past, at) => {
    const found = proposalIn(state, past, asked);
    if ('waits' in found) {
      const event = findLapse(state, past, found.waits, at);
      if (event !== undefined) return { events: [event], result: { status: statusAfter(event) } };
      const { proposal_id, grant_id, place } = found.waits;
      return {
        events: [{ type: 'ProposalWithdrawn', data: { proposal_id, grant_id, place } }],
        result: { status: 'withdrawn' },
      };
    }
    if (found.ended !== 'withdrawn') throw hasEnded(found.ended);
    return { events: [], result: { status: 'withdrawn' } };
  };
}

/**
 * Ends a proposal that can no longer be accepted; does nothing if it can still be accepted or has ended.
 * @throws Refusal not_found
 */
export function lapse(asked: ProposalRef): Conclude<void> {
  return (state, past, at) => {
    const found = proposalIn(state, past, asked);
    const event = 'waits' in found ? findLapse(state, past, found.waits, at) : undefined;
    return { events: event === undefined ? [] : [event], result: undefined };
  };
}

/**
 * Returns a proposal that nobody has decided on and, if it can't be accepted, the event that must end it.
 * @throws Refusal not_found for a person who isn't linked to the record, and for an unknown proposal; conflict if the proposal
 * has ended
 */
export function decidable(
  state: Resources,
  past: Past,
  asked: ProposalRef & Decider,
  at: Micros,
): { readonly data: MadeData; readonly lapse?: Lapsed } {
  requireLinked(state, past, asked);
  const found = proposalIn(state, past, asked);
  if ('ended' in found) throw hasEnded(found.ended);
  const data = found.waits;
  const event = findLapse(state, past, data, at);
  return event === undefined ? { data } : { data, lapse: { event, status: statusAfter(event) } };
}

interface Lapsed {
  readonly event: PlainEvent;
  readonly status: EndStatus;
}

/**
 * Returns the role in which a person decides.
 * @throws Refusal not_found unless the person is linked to the record. In the sandbox a person may be linked without an event
 * (section 9, "Sandbox"): they are refused only if their link was ended.
 */
export function requireLinked(
  state: Resources,
  past: Past,
  { record, person, environment }: ProposalRef & Decider,
): void {
  const links = listLinks(state, past, person);
  const isLinked = links.some(({ ended }) => !ended) || (environment === 'sandbox' && links.length === 0);
  if (!isLinked) throw notFound('Patient', record);
}

/** Returns the data for a proposal's webhooks. */
function webhookData(data: MadeData) {
  const { proposal_id, grant_id, place, application_id, project_id, environment, patient, resource_type } =
    data;
  return { proposal_id, grant_id, place, application_id, project_id, environment, patient, resource_type };
}

function conflict(diagnostics: string): Refusal {
  return new Refusal('conflict', { code: 'conflict', diagnostics });
}
