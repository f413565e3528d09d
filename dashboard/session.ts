/** Who is signed in, and their organizations and projects. */
import { signal } from '@preact/signals';
import { type AnswerOf, type Api, annal, type Environment } from './api.ts';
import { keepReasonsOf } from './reason.ts';

/** The person's part in an organization. */
export type Role = Api.Organization['role'];

export type Organization = Api.Organization;

export type Project = Api.Project;

/** The installation, and who the person is. */
export type Installation = AnswerOf<'GET', '/admin/config'>;

/** What the frame needs. */
export interface Account {
  readonly installation: Installation;
  readonly organizations: readonly Organization[];
  readonly projects: readonly Project[];
}

/** Undefined until it is loaded. */
export const account = signal<Account | undefined>(undefined);

/** Loads it again, for example after a project was created. */
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

const RANKS: readonly Role[] = ['developer', 'admin', 'owner'];

/** Tells whether a role includes another one. */
export function includesRole(role: Role, needed: Role): boolean {
  return RANKS.indexOf(role) >= RANKS.indexOf(needed);
}

/** Returns the role that an environment's data need. */
export function roleFor(environment: Environment): Role {
  return environment === 'production' ? 'admin' : 'developer';
}
