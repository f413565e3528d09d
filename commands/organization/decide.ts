/** What may happen to an organization. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Person, Role } from '#src/shared/member.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { memberKey, type OrganizationState, type Sso } from './state.ts';

/** Founds it; with a founder, who becomes its owner, unless the service itself founds it. */
export function create(id: string, name: string, founder?: Person) {
  return ({ exists }: OrganizationState): PlainEvent[] => {
    if (exists) throw new TypeError(`${id} is there already`);
    const person = founder === undefined ? {} : { founder: clean(founder) };
    return [{ type: 'OrganizationCreated', data: { organization_id: id, name, ...person } }];
  };
}

/** Adds a member, or gives one another role. @throws Refusal conflict when it would be left without an owner. */
export function addMember(id: string, person: Person, role: Role) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const key = memberKey(person);
    if (state.members.get(key) === role) return [];
    if (role !== 'owner') requireOtherOwner(state, key);
    return [{ type: 'OrganizationMemberAdded', data: { ...clean(person), role } }];
  };
}

/** Removes a member. @throws Refusal not_found for who is none; conflict for the last owner. */
export function removeMember(id: string, { issuer, subject }: Person) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const key = memberKey({ issuer, subject });
    if (!state.members.has(key)) {
      throw new Refusal('not_found', { code: 'not-found', diagnostics: 'this person is no member' });
    }
    requireOtherOwner(state, key);
    return [{ type: 'OrganizationMemberRemoved', data: { issuer, subject } }];
  };
}

/** Replaces the settings of single sign-on. */
export function configureSso(id: string, { issuer, client_id, domains }: Sso) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const { sso } = state;
    const same =
      sso?.issuer === issuer &&
      sso.client_id === client_id &&
      sso.domains.length === domains.length &&
      sso.domains.every((domain, index) => domain === domains[index]);
    if (same) return [];
    return [{ type: 'OrganizationSsoConfigured', data: { issuer, client_id, domains: [...domains] } }];
  };
}

/**
 * Notes that an owner holds an address in a domain.
 * @throws Refusal forbidden when the organization signs in with other domains.
 */
export function verify(id: string, domain: string) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const domains = state.sso?.domains ?? [];
    if (domains.length > 0 && !domains.includes(domain)) {
      throw new Refusal('forbidden', {
        code: 'forbidden',
        diagnostics: `the domain of your e-mail address, ${domain}, is none of the organization's: ${domains.join(', ')}`,
      });
    }
    return state.verified === domain ? [] : [{ type: 'OrganizationVerified', data: { domain } }];
  };
}

function requireThere({ exists }: OrganizationState, id: string): void {
  if (!exists) throw notFound('organization', id);
}

function requireOtherOwner({ members }: OrganizationState, key: string): void {
  if (members.get(key) !== 'owner') return;
  const owners = [...members.values()].filter((role) => role === 'owner');
  if (owners.length > 1) return;
  throw new Refusal('conflict', {
    code: 'business-rule',
    diagnostics: 'this is the only owner: make another member one first',
  });
}

function clean({ issuer, subject, email }: Person): { issuer: string; subject: string; email?: string } {
  return { issuer, subject, ...(email === undefined ? {} : { email }) };
}
