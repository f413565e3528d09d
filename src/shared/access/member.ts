/** Members of organizations and what their roles allow (docs/admin.md). */
import { domainToASCII } from 'node:url';
import type { Environment } from './caller.ts';
import type { Identity } from './identity.ts';

/** Roles, from the most to the least privileged (docs/spec/decisions.md, section 7). */
export const ROLES = ['owner', 'admin', 'developer'] as const;
export type Role = (typeof ROLES)[number];

/** A member of an organization, identified by issuer and subject of an ID token. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string | undefined;
}

/** The role that data and credentials of an environment take. */
export const ROLE_FOR: Readonly<Record<Environment, Role>> = { sandbox: 'developer', production: 'admin' };

/** Tells whether a role includes another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/**
 * Returns the domain of a person's e-mail address in lower case; undefined unless the issuer has verified the address.
 */
export function verifiedDomain({
  email,
  emailVerified,
}: Pick<Identity, 'email' | 'emailVerified'>): string | undefined {
  return emailVerified && email !== undefined ? emailDomain(email) : undefined;
}

/**
 * Returns the part of an e-mail address after the last @, in lower case; undefined if it is empty. Internationalised
 * names are in their ASCII form (RFC 5891), as in settings of single sign-on.
 */
export function emailDomain(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  const domain = at > 0 ? email.slice(at + 1).toLowerCase() : '';
  return domain === '' ? undefined : domainToASCII(domain) || domain;
}
