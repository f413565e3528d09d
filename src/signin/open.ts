/** Assembles people's sign-in on the pages: the issuers, the sessions, and the deletion of old rows. */
import type { Pool } from 'pg';
import type { SsoQueries } from '#queries/admin/sso.ts';
import { DEV_CLIENT, type DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { answerInProcess } from '#src/dev-issuer/in-process.ts';
import { customerHosts } from '#src/shared/customer-hosts.ts';
import { customerFetch } from '#src/signin/customer-fetch.ts';
import { SignIn } from '#src/signin/sign-in.ts';
import type { Config } from '../config.ts';
import type { Identities } from '../identity/open.ts';

/** Returns the sign-in at the installation's issuers, or at the development issuer. */
export function openSignIn({
  config,
  pool,
  identities: { verifier, devIssuer },
  ssoOf,
}: {
  readonly config: Pick<Config, 'baseUrl' | 'mode' | 'oidcIssuers'>;
  readonly pool: Pool;
  readonly identities: Identities;
  readonly ssoOf: SsoQueries['readSso'];
}): SignIn {
  return new SignIn({
    client: pool,
    baseUrl: config.baseUrl,
    issuers: devIssuer === undefined ? config.oidcIssuers.flatMap(clientAt) : [ownClient(devIssuer)],
    verify: (idToken) => verifier.verify(idToken),
    ssoOf,
    // The same rule as for the verifier: in development, an organization's issuer may run on the developer's own machine.
    ssoFetch: customerFetch(customerHosts(config.mode === 'production')),
  });
}

/** The client is the issuer's first audience (docs/spec/decisions.md, section 9, "Relying party"). */
function clientAt({ issuer, audiences, clientSecret }: Config['oidcIssuers'][number]) {
  const [clientId] = audiences;
  return clientId === undefined ? [] : [{ issuer, clientId, clientSecret }];
}

function ownClient(issuer: DevIssuer) {
  return {
    issuer: issuer.issuer,
    clientId: DEV_CLIENT,
    fetch: (url: string, request: { readonly method: string; readonly body: unknown }) =>
      answerInProcess(issuer, url, request),
  };
}
