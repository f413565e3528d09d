/** Keys and applications of a project, for screens that name them. */
import type { Environment } from './api.ts';
import { useProject } from './here.ts';
import { useLoaded } from './load.ts';
import { listAll } from './session.ts';
import { say } from './texts/texts.ts';

/** A key or an application. */
export interface Credential {
  readonly id: string;
  readonly environment: Environment;
  /** Its name; of a key also how it ends, because names need not be unique. */
  readonly label: string;
  /** When a key was last used, to the minute. */
  readonly lastUsedAt: string | null;
}

/** A project's credentials, those of both environments. */
export interface Credentials {
  readonly keys: readonly Credential[];
  readonly applications: readonly Credential[];
  /** Returns the name of a key or an application, and its id if it isn't listed: it may be deleted. */
  nameOf(id: string): string;
}

interface ListedKey {
  readonly id: string;
  readonly environment: Environment;
  readonly name: string;
  readonly last4: string;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
}

interface ListedApplication {
  readonly id: string;
  readonly environment: Environment;
  readonly name: string;
}

/** Returns the project's credentials: none until they are loaded. */
export function useCredentials(): Credentials {
  const { project } = useProject();
  const { value } = useLoaded(
    () =>
      Promise.all([
        listAll<ListedKey>(`/admin/projects/${project}/keys`),
        listAll<ListedApplication>(`/admin/projects/${project}/applications`),
      ]),
    [project],
  );
  const [listedKeys, listedApplications] = value ?? [[], []];
  const keys = listedKeys.map(({ id, environment, name, last4, last_used_at, revoked_at }) => ({
    id,
    environment,
    label: `${name} …${last4}${revoked_at === null ? '' : ` (${say('keys.revoked')})`}`,
    lastUsedAt: last_used_at,
  }));
  const applications = listedApplications.map(({ id, environment, name }) => ({
    id,
    environment,
    label: name,
    lastUsedAt: null,
  }));
  const names = new Map([...keys, ...applications].map(({ id, label }) => [id, label]));
  return { keys, applications, nameOf: (id) => names.get(id) ?? id };
}
