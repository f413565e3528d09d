/** The proposals in a record's state, and whether they are still pending. Pure. */

import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import { granted } from '../consent/held.ts';
import type { Past } from '../consent/on-record.ts';
import { findEntry, type Resources } from '../resource/state.ts';

export type MadeData = Extract<PlainEvent, { type: 'ProposalMade' }>['data'];
/** An event after which a proposal can no longer be accepted, although nobody decided on it. */
export type Lapse = Extract<PlainEvent, { type: 'ProposalSuperseded' | 'ProposalExpired' }>;
export type ProposalEnd = Extract<
  PlainEvent,
  { type: 'ProposalAccepted' | 'ProposalRejected' | 'ProposalWithdrawn' } | Pick<Lapse, 'type'>
>;

/** The status that each event gives to the proposal that it ends (docs/spec/decisions.md, section 7). */
export const STATUS_OF = {
  ProposalAccepted: 'accepted',
  ProposalRejected: 'rejected',
  ProposalWithdrawn: 'withdrawn',
  ProposalSuperseded: 'superseded',
  ProposalExpired: 'expired',
} as const satisfies { readonly [T in ProposalEnd['type']]: string };

/** How a proposal ended. */
export type EndStatus = (typeof STATUS_OF)[ProposalEnd['type']];

/**
 * Returns the status of a proposal after the event that ended it.
 * @throws TypeError for any other event
 */
export function statusAfter({ type }: DomainEvent): EndStatus {
  switch (type) {
    case 'ProposalAccepted':
    case 'ProposalRejected':
    case 'ProposalWithdrawn':
    case 'ProposalSuperseded':
    case 'ProposalExpired':
      return STATUS_OF[type];
    default:
      throw new TypeError(`${type} does not end a proposal`);
  }
}

/**
 * Returns the data from a proposal's first event.
 * @throws TypeError for any other event
 */
export function madeIn(event: DomainEvent): MadeData {
  if (event.type !== 'ProposalMade') throw new TypeError(`${event.type} does not begin a proposal`);
  return event.data;
}

/**
 * Returns a proposal that no event has ended, or otherwise the way in which it ended.
 * @throws Refusal not_found if the record has no such proposal
 */
export function proposalIn(
  state: Resources,
  past: Past,
  { record, proposalId }: { readonly record: string; readonly proposalId: string },
): { readonly waits: MadeData } | { readonly ended: EndStatus } {
  const entry = findEntry(state, proposalId);
  if (entry?.type !== 'Proposal') throw notFound('proposal', `${record}/${cut(proposalId, 64)}`);
  const event = past(entry.revision);
  return entry.deleted ? { ended: statusAfter(event) } : { waits: madeIn(event) };
}

/**
 * Returns the event that must end a pending proposal at a given time because it can no longer be accepted: its grant has
 * ended, it has expired, or the resource's version has changed.
 */
export function findLapse(state: Resources, past: Past, data: MadeData, at: Micros): Lapse | undefined {
  const { proposal_id, grant_id, place, resource_id, base_version, expires_at } = data;
  const named = { proposal_id, grant_id, place };
  if (!isGrantActive(state, past, grant_id, at))
    return { type: 'ProposalExpired', data: { ...named, reason: 'grant_ended' } };
  if (at >= toMicros(expires_at)) return { type: 'ProposalExpired', data: { ...named, reason: 'time' } };
  if (resource_id === undefined) return undefined;
  const version = findEntry(state, resource_id)?.version;
  if (version === undefined || version === base_version) return undefined;
  return { type: 'ProposalSuperseded', data: { ...named, version } };
}

/** Returns true if a grant still allows anything at a given time. */
export function isGrantActive(state: Resources, past: Past, grantId: string, at: Micros): boolean {
  const entry = findEntry(state, grantId);
  if (entry?.type !== 'Grant' || entry.deleted) return false;
  return at < toMicros(granted(past(entry.revision)).expires_at);
}

/** Returns the refusal (409) for a decision on a proposal that has ended. */
export function hasEnded(status: EndStatus): Refusal {
  return new Refusal('conflict', { code: 'conflict', diagnostics: ENDED[status] });
}

const ENDED: Readonly<Record<EndStatus, string>> = {
  accepted: 'the proposal was already accepted',
  rejected: 'the proposal was already rejected',
  withdrawn: 'the application has withdrawn the proposal',
  superseded: 'the resource has changed since the proposal was made; the application must make a new one',
  expired: 'the proposal has expired: nobody decided in time, or the access with which it was made has ended',
};
