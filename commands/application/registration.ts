/** Builds an application's registration. */
import { createHash } from 'node:crypto';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Registered } from './decide.ts';

/** The validated input of a registration; most names are from RFC 7591, section 2. */
export interface NewApplication {
  readonly name: string;
  /** The environment whose records the application can access; it never changes. */
  readonly environment: Environment;
  /** Public or confidential, that is, able to keep a secret (RFC 6749, section 2.1). */
  readonly kind: 'public' | 'confidential';
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris?: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: readonly string[];
  readonly privacy_url?: string | undefined;
  /** Public keys of a confidential application, which signs with its private keys and has no secret. */
  readonly jwks?: Registered['jwks'];
  /** The URL from which such keys are fetched. */
  readonly jwks_uri?: string | undefined;
  /** Applications in one project and environment that have the same sector get the same pairwise ids. */
  readonly sector?: string | undefined;
}

/** Returns true if an application authenticates with a client secret: it is confidential and registers no keys. */
export const hasSecret = ({ kind, jwks, jwks_uri }: NewApplication): boolean =>
  kind === 'confidential' && jwks === undefined && jwks_uri === undefined;

/** Returns a client secret and its SHA-256 in hex. */
export function clientSecret(random: Buffer): { readonly secret: string; readonly sha256: string } {
  const secret = `cs_${random.toString('base64url')}`;
  return { secret, sha256: createHash('sha256').update(secret).digest('hex') };
}

/** Ids of a new application. */
export interface ApplicationIds {
  readonly application: string;
  readonly project: string;
  /** OAuth `client_id`. */
  readonly client: string;
}

/**
 * Returns the event's data and the client secret in plain text.
 * @param random 256 bits from a CSPRNG; undefined for an application without a secret
 */
export function registration(
  ids: ApplicationIds,
  {
    name,
    environment,
    kind,
    redirect_uris,
    post_logout_redirect_uris = [],
    scopes,
    grant_types,
    privacy_url,
    jwks,
    jwks_uri,
    sector,
  }: NewApplication,
  random: Buffer | undefined,
): { data: Registered; secret: string | undefined } {
  const made = random === undefined ? undefined : clientSecret(random);
  const data: Registered = {
    application_id: ids.application,
    project_id: ids.project,
    client_id: ids.client,
    name,
    environment,
    kind,
    redirect_uris: [...redirect_uris],
    ...(post_logout_redirect_uris.length === 0
      ? {}
      : { post_logout_redirect_uris: [...post_logout_redirect_uris] }),
    scopes: [...scopes],
    grant_types: [...grant_types],
    ...(privacy_url === undefined ? {} : { privacy_url }),
    ...(made === undefined ? {} : { secret_sha256: made.sha256 }),
    ...(jwks === undefined ? {} : { jwks }),
    ...(jwks_uri === undefined ? {} : { jwks_uri }),
    ...(sector === undefined ? {} : { sector }),
  };
  return { data, secret: made?.secret };
}
