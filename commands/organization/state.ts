/** The parts of an organization's state that decisions need: its members, its sign-in, and its confirmed domain. */
import type { EventOf } from '#src/events/streams.ts';
import type { Person, Role } from '#src/shared/access/member.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import type { Fold } from '../kernel/kernel.ts';

/** Single sign-on settings (docs/spec/decisions.md, section 7). */
export interface Sso {
  readonly issuer: string;
  readonly client_id: string;
  readonly domains: readonly string[];
}

/** A pending invitation. */
export interface Invitation {
  /** Lower case. */
  readonly email: string;
  readonly role: Role;
  /** The key of the member who sent the invitation. */
  readonly by: string;
  readonly until: Micros;
}

export interface OrganizationState {
  exists: boolean;
  /** Roles by `memberKey`. */
  readonly members: Map<string, Role>;
  /** Invitations that nobody has accepted or ended, by id; some may have expired. */
  readonly invitations: Map<string, Invitation>;
  /** Ids of invitations that have ended. */
  readonly ended: Set<string>;
  sso: Sso | undefined;
  /** The domain that an owner confirmed, if any. */
  confirmed: string | undefined;
}

/** Returns a member's key: issuer and subject. */
export function memberKey({ issuer, subject }: Person): string {
  return `${issuer}\n${subject}`;
}

/** The fold of `organization-` streams. */
export const ORGANIZATION: Fold<OrganizationState, EventOf<'organization'>> = {
  name: 'organization',
  kinds: ['organization'],
  initial: () => ({
    exists: false,
    members: new Map(),
    invitations: new Map(),
    ended: new Set(),
    sso: undefined,
    confirmed: undefined,
  }),
  evolve,
  estimateSize: ({ members, invitations, ended }) =>
    300 + members.size * 200 + invitations.size * 400 + ended.size * 80,
};

function evolve(state: OrganizationState, event: EventOf<'organization'>): void {
  switch (event.type) {
    case 'OrganizationCreated':
      state.exists = true;
      if (event.data.founder !== undefined) state.members.set(memberKey(event.data.founder), 'owner');
      break;
    case 'OrganizationMemberAdded':
      state.members.set(memberKey(event.data), event.data.role);
      break;
    case 'OrganizationMemberInvited': {
      const { invitation_id, email, role, invited_by, expires_at } = event.data;
      const until = toMicros(expires_at);
      state.invitations.set(invitation_id, { email, role, by: memberKey(invited_by), until });
      break;
    }
    case 'OrganizationInvitationEnded':
      state.invitations.delete(event.data.invitation_id);
      state.ended.add(event.data.invitation_id);
      break;
    case 'OrganizationMemberRemoved':
      state.members.delete(memberKey(event.data));
      break;
    case 'OrganizationSsoConfigured':
      state.sso = event.data;
      // The confirmation lapses once the domain no longer belongs to the organization.
      if (state.confirmed !== undefined && !event.data.domains.includes(state.confirmed))
        state.confirmed = undefined;
      break;
    case 'OrganizationVerified':
      state.confirmed = event.data.domain;
      break;
    default:
      event satisfies never;
  }
}
