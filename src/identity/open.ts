/**
 * Determines whose ID tokens the service accepts: tokens from configured issuers and from organizations' own issuers. If no
 * issuers are configured, it also accepts tokens from the development issuer.
 */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { otherIssuers } from '#queries/projects.ts';
import { DEV_CLIENT, DevIssuer, devIssuerUrl, ownIssuers } from '#src/dev-issuer/dev-issuer.ts';
import { saveDevIssuer } from '#src/dev-issuer/store.ts';
import { Verifier } from '#src/identity/verify.ts';
import type { SsoClientsOf } from '#src/shared/access/identity.ts';
import { isSameIssuer } from '#src/shared/access/issuers.ts';
import { isLoopback } from '#src/shared/loopback.ts';
import type { Config } from '../config.ts';

/** The ID token verifier, and the development issuer if no issuer is configured. */
export interface Identities {
  readonly verifier: Verifier;
  /** Undefined in production, if issuers are configured, or if other machines could reach the service without permission. */
  readonly devIssuer: DevIssuer | undefined;
}

/** Settings that decide whether the service itself is an issuer. */
export type IssuerSettings = Pick<Config, 'baseUrl' | 'devIssuer' | 'host' | 'mode' | 'oidcIssuers'>;

/**
 * Returns the issuer URL if the service runs the development issuer; otherwise undefined. It runs the development issuer
 * outside production if no other issuer is configured and either only this machine can reach it or other machines are allowed
 * to use it.
 */
export function ownIssuer(settings: IssuerSettings): string | undefined {
  const { baseUrl, devIssuer, mode, oidcIssuers } = settings;
  if (mode === 'production' || oidcIssuers.length > 0) return undefined;
  return devIssuer === 'allow' || reachable(settings) === undefined ? devIssuerUrl(baseUrl) : undefined;
}

/** Returns the setting that makes the service reachable from other machines; undefined if only this machine can reach it. */
function reachable({ host, baseUrl }: Pick<Config, 'host' | 'baseUrl'>): string | undefined {
  if (!isLoopback(host)) return `HOST=${host}`;
  const { hostname } = new URL(baseUrl);
  return isLoopback(hostname) ? undefined : `BASE_URL with the host ${hostname}`;
}

/** Returns a warning for the operator about who can sign in; undefined if none is needed. */
function findWarning(settings: IssuerSettings): string | undefined {
  if (settings.oidcIssuers.length > 0) return undefined;
  if (settings.mode === 'production')
    return 'MODE=production without OIDC_ISSUERS: nobody can sign in, and every request to /admin returns 401. Nobody can create organizations, projects or API keys, manage webhooks there, or register applications; only existing keys work. Set OIDC_ISSUERS to your identity provider.';
  const outside = reachable(settings);
  if (outside === undefined) return undefined;
  if (settings.devIssuer === 'allow')
    return `DEV_ISSUER=allow and ${outside}: anyone who can reach the service can sign in as any person. Set OIDC_ISSUERS, or MODE=production.`;
  return `${outside} lets other machines reach the service, so the development issuer does not run and nobody can sign in: every request to /admin returns 401. Set OIDC_ISSUERS, or set DEV_ISSUER=allow if anyone who can reach the service may sign in as any person.`;
}

/** Returns a warning if members have signed in at the development issuer under a different URL; undefined if none have. */
async function movedWarning(pool: Pool, issuer: string): Promise<string | undefined> {
  const others = await otherIssuers(pool, devIssuerUrl('%'), issuer);
  if (others.length === 0) return undefined;
  return `this database has members that signed in at ${others.join(', ')}. The development issuer is now ${issuer}, where the same e-mail addresses are other persons, without those projects and records. To get them back, restore the previous PORT or BASE_URL.`;
}

/**
 * Creates the verifier and the development issuer. Records for the command line which development issuer this installation
 * has.
 */
export async function openIdentities({
  config,
  pool,
  log,
  ssoClientsOf,
  warns,
}: {
  readonly config: IssuerSettings & Pick<Config, 'sandboxPatients'>;
  readonly pool: Pool;
  readonly log: Logger;
  readonly ssoClientsOf?: SsoClientsOf;
  /** False if another process on the machine logs warnings about the settings. */
  readonly warns: boolean;
}): Promise<Identities> {
  const { mode, oidcIssuers } = config;
  const own = ownIssuer(config);
  const devIssuer = own === undefined ? undefined : new DevIssuer(pool, own, config.sandboxPatients);
  if (warns) {
    const moved = own === undefined ? undefined : await movedWarning(pool, own);
    for (const warning of [findWarning(config), moved]) if (warning !== undefined) log.warn(warning);
  }
  await saveDevIssuer(pool, devIssuer?.issuer);
  const issuers =
    devIssuer === undefined
      ? oidcIssuers
      : [{ issuer: devIssuer.issuer, audiences: [DEV_CLIENT], keys: () => devIssuer.jwks() }];
  const verifier = new Verifier({
    issuers,
    // On a developer's machine, an organization's issuer may be running on the same machine.
    ssoPublicOnly: mode === 'production',
    ...(ssoClientsOf === undefined
      ? {}
      : // Settings of organizations were once taken with this service as their issuer.
        {
          ssoClientsOf: async (issuer: string) =>
            isSameIssuer(issuer, ownIssuers(config.baseUrl)) ? [] : ssoClientsOf(issuer),
        }),
    onAway: (issuer, error) => log.warn({ err: error, issuer }, 'the keys of an issuer could not be fetched'),
  });
  return { verifier, devIssuer };
}
