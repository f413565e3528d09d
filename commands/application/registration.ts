/** Builds the registration of an application. */
import { createHash } from 'node:crypto';
import type { Environment } from '#src/shared/tenant.ts';
import type { Registered } from './decide.ts';

/** The checked input of a registration; most names are those of RFC 7591, section 2. */
export interface NewApplication {
  readonly name: string;
  /** The environment whose records it can reach; it never changes. */
  readonly environment: Environment;
  /** Public or confidential: can it keep a secret (RFC 6749, section 2.1)? */
  readonly kind: 'public' | 'confidential';
  readonly redirect_uris: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: readonly string[];
  readonly privacy_url?: string | undefined;
}

/** Ids of a new application. */
export interface ApplicationIds {
  readonly application: string;
  readonly project: string;
  /** OAuth `client_id`. */
  readonly client: string;
}

/**
 * Returns the event's data, and the client secret in plain text.
 * @param random 256 bits of a CSPRNG; undefined for a public application, which has no secret
 */
export function registration(
  ids: ApplicationIds,
  { name, environment, kind, redirect_uris, scopes, grant_types, privacy_url }: NewApplication,
  random: Buffer | undefined,
): { data: Registered; secret: string | undefined } {
  const secret = random === undefined ? undefined : `cs_${random.toString('base64url')}`;
  const data: Registered = {
    application_id: ids.application,
    project_id: ids.project,
    client_id: ids.client,
    name,
    environment,
    kind,
    redirect_uris: [...redirect_uris],
    scopes: [...scopes],
    grant_types: [...grant_types],
    ...(privacy_url === undefined ? {} : { privacy_url }),
    ...(secret === undefined ? {} : { secret_sha256: createHash('sha256').update(secret).digest('hex') }),
  };
  return { data, secret };
}
