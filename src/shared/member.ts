/** Members of organizations and what their roles allow (docs/admin.md). */
import type { Identity } from './identity.ts';

/** Roles, the mightiest first (docs/spec/decisions.md, section 7). */
export const ROLES = ['owner', 'admin', 'developer'] as const;
/** One of them. */
export type Role = (typeof ROLES)[number];

/** A person as organizations name their members: by issuer and subject of an ID token. */
export interface Person {
  readonly issuer: string;
  readonly subject: string;
  readonly email?: string | undefined;
}

/** Whether a role is at least as mighty as another. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed);
}

/** The domain of a person's e-mail address, lower case; undefined unless the issuer says that the address is theirs. */
export function verifiedDomain({
  email,
  emailVerified,
}: Pick<Identity, 'email' | 'emailVerified'>): string | undefined {
  return emailVerified && email !== undefined ? domainOf(email) : undefined;
}

/** What stands behind the last @ of an e-mail address, lower case; undefined where nothing does. */
export function domainOf(email: string): string | undefined {
  const at = email.lastIndexOf('@');
  return at > 0 && at < email.length - 1 ? email.slice(at + 1).toLowerCase() : undefined;
}
