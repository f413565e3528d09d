/** The state of an organization that decisions need: its members, its sign-in, its confirmed domain. */
import type { EventOf } from '#src/events/streams.ts';
import type { Person, Role } from '#src/shared/access/member.ts';
import type { Fold } from '../kernel/kernel.ts';

/** Single sign-on settings (docs/spec/decisions.md, section 7). */
export interface Sso {
  readonly issuer: string;
  readonly client_id: string;
  readonly domains: readonly string[];
}

export interface OrganizationState {
  exists: boolean;
  /** Roles by `memberKey`. */
  readonly members: Map<string, Role>;
  sso: Sso | undefined;
  /** The domain that an owner confirmed; undefined without one. */
  confirmed: string | undefined;
}

/** Returns the key of a member: issuer and subject. */
export function memberKey({ issuer, subject }: Person): string {
  return `${issuer}\n${subject}`;
}

/** The fold of `organization-` streams. */
export const ORGANIZATION: Fold<OrganizationState, EventOf<'organization'>> = {
  name: 'organization',
  kinds: ['organization'],
  initial: () => ({ exists: false, members: new Map(), sso: undefined, confirmed: undefined }),
  evolve,
  estimateSize: ({ members }) => 300 + members.size * 200,
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
    case 'OrganizationMemberRemoved':
      state.members.delete(memberKey(event.data));
      break;
    case 'OrganizationSsoConfigured':
      state.sso = event.data;
      // The confirmation ends once its domain no longer belongs to the organization.
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
