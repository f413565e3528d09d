/** Decisions about invitations to an organization, which make the holder of a verified e-mail address a member. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { type Person, type Role, suffices } from '#src/shared/access/member.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { memberKey, type OrganizationState } from './state.ts';

/** How long after its creation an invitation can be accepted, in microseconds: 14 days. */
export const INVITATION_LIFE = 14 * 86_400_000_000;
/** The maximum number of pending invitations per organization. */
const MOST = 100;

/** An invitation to be created. */
export interface NewInvitation {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly role: Role;
  readonly by: Person;
  readonly now: Micros;
}

/** Returns the role that a member needs in order to give another person the given role. */
export const TO_GIVE = (role: Role): Role => (role === 'owner' ? 'owner' : 'admin');

/**
 * Invites an address; an earlier invitation to the same address is ended.
 * @throws Refusal not_found; conflict if too many invitations are pending
 */
export function invite(organization: string, { id, email, role, by, now }: NewInvitation) {
  return ({ exists, invitations }: OrganizationState): PlainEvent[] => {
    if (!exists) throw notFound('organization', organization);
    const waiting = [...invitations].filter(([, { until }]) => until > now);
    const earlier = waiting.filter(([, each]) => each.email === email);
    if (waiting.length - earlier.length >= MOST)
      throw new Refusal('conflict', {
        code: 'business-rule',
        diagnostics: `${MOST} invitations are already pending, which is the maximum: withdraw some of them first`,
      });
    const { issuer, subject } = by;
    return [
      ...earlier.map(([replaced]) => ended(replaced, 'replaced')),
      {
        type: 'OrganizationMemberInvited',
        data: {
          invitation_id: id,
          email,
          role,
          invited_by: { issuer, subject },
          expires_at: toInstant(now + INVITATION_LIFE),
        },
      },
    ];
  };
}

/**
 * Withdraws an invitation; does nothing if it has already ended.
 * @throws Refusal not_found for an unknown invitation
 */
export function withdraw(id: string) {
  return ({ invitations, ended: over }: OrganizationState): PlainEvent[] => {
    if (invitations.has(id)) return [ended(id, 'withdrawn')];
    if (over.has(id)) return [];
    throw notFound('invitation', id);
  };
}

/**
 * Makes the person a member.
 * @param email the person's verified address in lower case
 * @throws Refusal not_found for an invitation that isn't for this person or has ended; conflict if the person is already a
 * member, or if the member who invited them may no longer give the role
 */
export function accept(id: string, person: Person, email: string, now: Micros) {
  return ({ invitations, members }: OrganizationState): PlainEvent[] => {
    const invitation = invitations.get(id);
    if (invitation === undefined || invitation.email !== email || invitation.until <= now)
      throw notFound('invitation', id);
    if (members.has(memberKey(person)))
      throw new Refusal('conflict', {
        code: 'business-rule',
        diagnostics:
          'you are already a member of the organization; ask an owner or admin to change your role',
      });
    const { role, by } = invitation;
    const inviter = members.get(by);
    if (inviter === undefined || !suffices(inviter, TO_GIVE(role)))
      throw new Refusal('conflict', {
        code: 'business-rule',
        diagnostics: `the person who invited you may no longer give the role ${role}: ask an owner or admin of the organization for another invitation`,
      });
    const { issuer, subject } = person;
    return [
      { type: 'OrganizationMemberAdded', data: { issuer, subject, email, role } },
      ended(id, 'accepted'),
    ];
  };
}

function ended(id: string, reason: 'accepted' | 'withdrawn' | 'replaced'): PlainEvent {
  return { type: 'OrganizationInvitationEnded', data: { invitation_id: id, reason } };
}
