/** The signed-in person, and their organizations and projects. */
import { signal } from '@preact/signals';
import { type AnswerOf, type Api, annal, type Environment } from './api.ts';
import { PLACE } from './place.ts';
import { keepReasonsOf } from './reason.ts';

/** The person's role in an organization. */
export type Role = Api.Organization['role'];

export type Organization = Api.Organization;

export type Project = Api.Project;

/** The installation, and the person's identity. */
export type Installation = AnswerOf<'GET', '/admin/config'>;

/** The data that the frame needs. */
export interface Account {
  readonly installation: Installation;
  readonly organizations: readonly Organization[];
  readonly projects: readonly Project[];
}

/** Undefined until the account is loaded. */
export const account = signal<Account | undefined>(undefined);

/** Returns true if the person is an operator of the installation. */
export function isOperator(): boolean {
  return account.value?.installation.operator === true;
}

/** Reloads the account, for example after a project was created. */
export async function loadAccount(): Promise<Account> {
  const [installation, organizations] = await Promise.all([
    annal.get('/admin/config'),
    annal.list('/admin/organizations', { limit: 100 }).all(),
  ]);
  const projects = await Promise.all(
    organizations.map(({ id }) =>
      annal.list('/admin/organizations/{org_id}/projects', { org_id: id, limit: 100 }).all(),
    ),
  );
  const { issuer, subject } = installation.identity;
  keepReasonsOf(`${issuer} ${subject}`);
  const loaded = { installation, organizations, projects: projects.flat() };
  account.value = loaded;
  return loaded;
}

/**
 * Starts the page again if another person is signed in by now: a browser has one session, which a sign-in in another tab
 * replaces. Without that, this tab would show one person, and send the other's requests with the first one's reasons.
 */
export async function checkPerson(): Promise<void> {
  const shown = account.value?.installation.identity;
  if (shown === undefined) return;
  // Not through the client: if the session has ended, this must not lead away from what the person has entered.
  const answer = await fetch(`${PLACE.base}/app/api/admin/config`, { headers: { 'X-Service-Session': '1' } });
  if (!answer.ok) return;
  const { identity } = (await answer.json()) as Installation;
  if (identity.issuer !== shown.issuer || identity.subject !== shown.subject) location.reload();
}

/** A role that is required, or `member` for any role. */
export type Needed = Role | 'member';

/** The same rules as in the service (docs/admin.md, "Who may do what"). */
const SUFFICES_FOR: Readonly<Record<Role, readonly Needed[]>> = {
  owner: ['member', 'developer', 'auditor', 'admin', 'owner'],
  admin: ['member', 'developer', 'auditor', 'admin'],
  developer: ['member', 'developer'],
  auditor: ['member', 'auditor'],
};

/** Returns true if a role is sufficient. */
export function includesRole(role: Role, needed: Needed): boolean {
  return SUFFICES_FOR[role].includes(needed);
}

/** Returns the role required to write an environment's data. */
export function roleFor(environment: Environment): Role {
  return environment === 'production' ? 'admin' : 'developer';
}

/** Returns the role required to read an environment's data. */
export function roleToRead(environment: Environment): Needed {
  return environment === 'production' ? 'auditor' : 'member';
}
