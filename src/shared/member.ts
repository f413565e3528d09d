/** Members of organizations and what their roles allow (docs/admin.md). */

/** Roles, the mightiest first (decisions.md, section 7). */
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
