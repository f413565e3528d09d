/** Members of organizations and what their roles allow (docs/admin.md). */
import { domainToASCII } from 'node:url';
import type { Environment } from './caller.ts';
import type { Identity } from './identity.ts';

/** Roles (docs/spec/decisions.md, section 7). */
export const ROLES = ['owner', 'admin', 'developer', 'auditor'] as const;
export type Role = (typeof ROLES)[number];

/** A role that something requires; `member` stands for any role. Developers and auditors don't include each other. */
export type Needed = Role | 'member';

const SUFFICES_FOR: Readonly<Record<Role, readonly Needed[]>> = {
  owner: ['member', 'developer', 'auditor', 'admin', 'owner'],
  admin: ['member', 'developer', 'auditor', 'admin'],
  developer: ['member', 'developer'],
  auditor: ['member', 'auditor'],
};

/** An organization's member, identified by the issuer and subject of an ID token. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string | undefined;
}

/** The role that is required to write an environment's data and manage its credentials. */
export const TO_WRITE: Readonly<Record<Environment, Role>> = { sandbox: 'developer', production: 'admin' };

/** The role that is required to read an environment's data. */
export const TO_READ: Readonly<Record<Environment, Needed>> = { sandbox: 'member', production: 'auditor' };

/** Returns whether a role is sufficient. */
export function suffices(role: Role, needed: Needed): boolean {
  return SUFFICES_FOR[role].includes(needed);
}

/** Returns the domain of a person's e-mail address, in lower case; undefined unless the issuer has verified the address. */
export function verifiedDomain({
  email,
  emailVerified,
}: Pick<Identity, 'email' | 'emailVerified'>): string | undefined {
  return emailVerified && email !== undefined ? emailDomain(email) : undefined;
}

/**
 * Returns the part of an e-mail address after the last @, in lower case; undefined if that part is empty. Internationalised
 * names are in their ASCII form (RFC 5891), as in single sign-on settings.
 */
export function emailDomain(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  const domain = at > 0 ? email.slice(at + 1).toLowerCase() : '';
  return domain === '' ? undefined : domainToASCII(domain) || domain;
}
