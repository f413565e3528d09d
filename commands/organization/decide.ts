/** Decisions about organizations. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { type Person, type Role, suffices } from '#src/shared/access/member.ts';
import { isPublicMailDomain } from '#src/shared/public-mail.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { memberKey, type OrganizationState, type Sso } from './state.ts';

/**
 * Returns the decision to create an organization. Its founder becomes the owner; an organization that the service creates has
 * no founder.
 */
export function create(id: string, name: string, founder?: Person) {
  return ({ exists }: OrganizationState): PlainEvent[] => {
    if (exists) throw new TypeError(`${id} already exists`);
    const person = founder === undefined ? {} : { founder: clean(founder) };
    return [{ type: 'OrganizationCreated', data: { organization_id: id, name, ...person } }];
  };
}

/**
 * Adds a member or changes their role.
 * @throws Refusal conflict if the organization would be left without an owner
 */
export function addMember(id: string, person: Person, role: Role) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const key = memberKey(person);
    if (state.members.get(key) === role) return [];
    if (role !== 'owner') requireOtherOwner(state, key);
    return [{ type: 'OrganizationMemberAdded', data: { ...clean(person), role } }];
  };
}

/**
 * Removes a member.
 * @throws Refusal not_found if the person isn't a member; conflict for the last owner
 */
export function removeMember(id: string, { issuer, subject }: Person) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const key = memberKey({ issuer, subject });
    if (!state.members.has(key)) {
      throw new Refusal('not_found', {
        code: 'not-found',
        diagnostics: 'this person is not a member of the organization',
      });
    }
    requireOtherOwner(state, key);
    return [{ type: 'OrganizationMemberRemoved', data: { issuer, subject } }];
  };
}

/** The caller's role and domain, which determine whether the caller may change single sign-on settings. */
export interface SsoClaim {
  readonly role: Role;
  /**
   * The domain of the caller's verified e-mail address, according to a token that the installation trusts; undefined if there
   * is none.
   */
  readonly domain: string | undefined;
}

/**
 * Replaces the SSO settings.
 * @throws Refusal forbidden if a caller who isn't an owner changes the sign-in, or for new domains other than the caller's,
 * because a domain determines who becomes a member and whom discovery sends to this sign-in; invalid for new domains that
 * belong to public mail providers
 */
export function configureSso(id: string, { issuer, client_id, domains }: Sso, claim: SsoClaim) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    const { sso } = state;
    if (sso?.issuer !== issuer || sso.client_id !== client_id) requireOwner(claim.role);
    const held = sso?.domains ?? [];
    requireOwnDomains(domains.map((domain) => (held.includes(domain) ? undefined : domain)));
    requireProved(domains, [...held, ...(claim.domain === undefined ? [] : [claim.domain])]);
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
 * Confirms the domain of an owner's verified e-mail address.
 * @throws Refusal invalid for a public mail provider's domain; forbidden if the organization's sign-in is set up for other
 * domains
 */
export function confirmDomain(id: string, domain: string) {
  return (state: OrganizationState): PlainEvent[] => {
    requireThere(state, id);
    if (isPublicMailDomain(domain)) {
      throw new Refusal('invalid', {
        code: 'business-rule',
        diagnostics: `${domain} belongs to a public mail provider, so it can't be confirmed: send an ID token with an e-mail address at a domain of the organization itself`,
      });
    }
    const domains = state.sso?.domains ?? [];
    if (domains.length > 0 && !domains.includes(domain)) {
      throw new Refusal('forbidden', {
        code: 'forbidden',
        diagnostics: `the domain of your e-mail address, ${domain}, is not one of the organization's domains: ${domains.join(', ')}`,
      });
    }
    return state.confirmed === domain ? [] : [{ type: 'OrganizationVerified', data: { domain } }];
  };
}

function requireOwner(role: Role): void {
  if (suffices(role, 'owner')) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `changing the issuer or client_id of single sign-on requires the role owner; your role in this organization is ${role}`,
  });
}

/** @param added new domains; undefined replaces each domain that the organization already has */
function requireOwnDomains(added: readonly (string | undefined)[]): void {
  const foreign = added.flatMap((domain, index) =>
    domain === undefined || !isPublicMailDomain(domain)
      ? []
      : [
          {
            code: 'business-rule' as const,
            diagnostics: `${domain} belongs to a public mail provider, so it can't be a domain of the organization`,
            expression: `domains.${index}`,
          },
        ],
  );
  if (foreign.length > 0) throw new Refusal('invalid', foreign);
}

function requireProved(domains: readonly string[], proved: readonly string[]): void {
  const claimed = domains.flatMap((domain, index) =>
    proved.includes(domain)
      ? []
      : [
          {
            code: 'forbidden' as const,
            diagnostics: `${domain} is new to the organization: to add it, send an ID token from one of OIDC_ISSUERS with a verified e-mail address at ${domain}`,
            expression: `domains.${index}`,
          },
        ],
  );
  if (claimed.length > 0) throw new Refusal('forbidden', claimed);
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
    diagnostics: "this is the organization's only owner; make another member an owner first",
  });
}

function clean({ issuer, subject, email }: Person): { issuer: string; subject: string; email?: string } {
  return { issuer, subject, ...(email === undefined ? {} : { email }) };
}
