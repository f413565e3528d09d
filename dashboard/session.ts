/** Who is signed in, and their organizations and projects. */
import { signal } from '@preact/signals';
import { call, type Environment, type Page } from './api.ts';
import { keepReasonsOf } from './reason.ts';

/** The person's part in an organization. */
export type Role = 'developer' | 'admin' | 'owner';

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly confirmed_domain: string | null;
}

export interface Project {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly created_at: string;
}

/** The installation, and who the person is (`GET /admin/config`). */
export interface Installation {
  readonly version: string;
  readonly mode: 'development' | 'production';
  readonly base_url: string;
  readonly fhir_base_url: string;
  readonly identity: { readonly issuer: string; readonly subject: string; readonly email: string | null };
}

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
    call<Installation>('/admin/config'),
    listAll<Organization>('/admin/organizations'),
  ]);
  const projects = await Promise.all(
    organizations.map(({ id }) => listAll<Project>(`/admin/organizations/${id}/projects`)),
  );
  const { issuer, subject } = installation.identity;
  keepReasonsOf(`${issuer} ${subject}`);
  const loaded = { installation, organizations, projects: projects.flat() };
  account.value = loaded;
  return loaded;
}

/** Reads all pages of a list. */
export async function listAll<T>(path: string): Promise<readonly T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const query: string = cursor === null ? '?limit=100' : `?limit=100&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await call<Page<T>>(path + query);
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
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
