/** Whose ID tokens the service takes: configured issuers, the organizations' own, else the development issuer. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { DEV_CLIENT, DevIssuer, devIssuerOf } from '#src/identity/dev-issuer/dev-issuer.ts';
import { Verifier } from '#src/identity/verify.ts';
import { noteDevIssuer } from '#src/operations/dev-issuer.ts';
import type { SsoClientsOf } from '#src/shared/identity.ts';
import type { Config } from '../config.ts';

/** What checks ID tokens, and what makes them where no issuer is configured. */
export interface Identities {
  readonly verifier: Verifier;
  /** Undefined where issuers are configured, and in production. */
  readonly devIssuer: DevIssuer | undefined;
}

/** The issuer of a service that is one itself: outside production, while no other is configured. */
export function ownIssuer({
  baseUrl,
  mode,
  oidcIssuers,
}: Pick<Config, 'baseUrl' | 'mode' | 'oidcIssuers'>): string | undefined {
  return mode !== 'production' && oidcIssuers.length === 0 ? devIssuerOf(baseUrl) : undefined;
}

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost']);

/** Makes both, and notes for the command line which development issuer this installation has. */
export async function openIdentities({
  config,
  pool,
  log,
  ssoClientsOf,
}: {
  readonly config: Pick<Config, 'baseUrl' | 'host' | 'mode' | 'oidcIssuers' | 'sandboxPatients'>;
  readonly pool: Pool;
  readonly log: Logger;
  readonly ssoClientsOf?: SsoClientsOf;
}): Promise<Identities> {
  const { host, mode, oidcIssuers } = config;
  const own = ownIssuer(config);
  const devIssuer = own === undefined ? undefined : new DevIssuer(pool, own, config.sandboxPatients);
  if (own !== undefined && !LOOPBACK.has(host)) {
    log.warn(
      { host },
      'whoever reaches the development issuer can be anybody: set OIDC_ISSUERS, or MODE=production',
    );
  }
  await noteDevIssuer(pool, devIssuer?.issuer);
  const issuers =
    devIssuer === undefined
      ? oidcIssuers
      : [{ issuer: devIssuer.issuer, audiences: [DEV_CLIENT], keys: () => devIssuer.jwks() }];
  const verifier = new Verifier({
    issuers,
    // A developer's own machine may well be where an organization's issuer runs.
    ssoPublicOnly: mode === 'production',
    ...(ssoClientsOf === undefined ? {} : { ssoClientsOf }),
    onAway: (issuer, error) => log.warn({ err: error, issuer }, 'an issuer could not be asked for its keys'),
  });
  return { verifier, devIssuer };
}
