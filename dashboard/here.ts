/** The project and environment of the screen, taken from its path `/app/projects/{id}/{environment}/…`. */
import { useLocation } from 'preact-iso';
import type { Environment, Of } from './api.ts';
import { PLACE } from './place.ts';
import {
  account,
  includesRole,
  type Organization,
  type Project,
  type Role,
  roleFor,
  roleToRead,
} from './session.ts';

/** The project that a screen is about. */
export interface Here extends Of {
  readonly details: Project;
  readonly organization: Organization;
  readonly role: Role;
  /** True if the person may read the environment's records. */
  readonly mayRead: boolean;
  /** True if the person may write the environment's records and manage its keys and endpoints. */
  readonly mayUse: boolean;
}

/**
 * Returns the current project and environment; undefined outside of a project, and for a project to which the person doesn't
 * belong.
 */
export function useHere(): Here | undefined {
  const { path } = useLocation();
  return findHere(path);
}

/** Like `useHere`, for screens that exist only inside a project. */
export function useProject(): Here {
  const here = useHere();
  if (here === undefined) throw new TypeError('this screen is outside of a project');
  return here;
}

function findHere(path: string): Here | undefined {
  const [, id, environment] =
    /^\/projects\/([^/]+)\/(sandbox|production)(?:\/|$)/.exec(path.slice(PLACE.root.length)) ?? [];
  const details = account.value?.projects.find((project) => project.id === id);
  const organization = account.value?.organizations.find((each) => each.id === details?.organization_id);
  if (details === undefined || organization === undefined || environment === undefined) return undefined;
  const known = environment as Environment;
  const { role } = organization;
  return {
    project: details.id,
    environment: known,
    details,
    organization,
    role,
    mayRead: includesRole(role, roleToRead(known)),
    mayUse: includesRole(role, roleFor(known)),
  };
}

/**
 * Returns the path to a project's screen.
 * @param screen such as `/keys`; empty for the overview
 */
export function pathOf({ project, environment }: Of, screen = ''): string {
  return `${PLACE.root}/projects/${project}/${environment}${screen}`;
}

/** Returns the rest of the path within this project, such as `/keys`. */
export function useScreen(): string {
  const { path } = useLocation();
  return path
    .slice(PLACE.root.length)
    .replace(/^\/projects\/[^/]+\/(?:sandbox|production)/, '')
    .replace(/\/$/, '');
}
