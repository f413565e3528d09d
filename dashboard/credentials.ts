/** A project's keys and applications, for screens that show their names. */
import { useMemo } from 'preact/hooks';
import { type Api, annal, type Environment } from './api.ts';
import { useProject } from './here.ts';
import { useLoaded } from './load.ts';
import { language, say } from './texts/texts.ts';

/** A key or an application. */
export interface Credential {
  readonly id: string;
  readonly environment: Environment;
  /** The name. For a key, it includes the key's last characters, because names need not be unique. */
  readonly label: string;
  /** When a key was last used, to the minute. */
  readonly lastUsedAt: string | null;
}

/** A project's credentials in both environments. */
export interface Credentials {
  readonly keys: readonly Credential[];
  readonly applications: readonly Credential[];
  readonly areLoaded: boolean;
  /** Returns the name of a key or an application; returns its id if it isn't listed, perhaps because it was deleted. */
  nameOf(id: string): string;
}

/** Returns the project's credentials; empty until they are loaded. */
export function useCredentials(): Credentials {
  const { project } = useProject();
  const { value } = useLoaded(() => readCredentials(project), [project]);
  return useMemo(
    () => ({ ...toCredentials(value ?? [[], []]), areLoaded: value !== undefined }),
    [value, language.value],
  );
}

type Listed = readonly [keys: readonly Api.Key[], applications: readonly Api.Application[]];

function readCredentials(project_id: string): Promise<Listed> {
  const asked = { project_id, limit: 100 };
  return Promise.all([
    annal.list('/admin/projects/{project_id}/keys', asked).all(),
    annal.list('/admin/projects/{project_id}/applications', asked).all(),
  ]);
}

function toCredentials([listedKeys, listedApplications]: Listed): Omit<Credentials, 'areLoaded'> {
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
