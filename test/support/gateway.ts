/** Calls the gateway `/app/api` as a page of the service would, with sessions of people from the development issuer. */
import type { Pool } from 'pg';
import { devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { Sessions } from '#src/signin/sessions.ts';
import { identityOf } from './me.ts';
import { Answer } from './service.ts';

/** A request's details in addition to its path. */
export interface GatewayCall {
  readonly method?: string;
  readonly body?: unknown;
  /** Replaces the headers that a page's script would send; undefined omits a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A person who is signed in. */
export interface SignedIn {
  /** The session's secret, which is the cookie's value. */
  readonly secret: string;
  readonly email: string;
  /**
   * Sends a request.
   * @param path below `/app/api`, with a leading slash
   */
  ask(path: string, call?: GatewayCall): Promise<Answer>;
}

/** Signs a person in by creating what a sign-in at the development issuer leaves behind. */
export async function signedIn(
  service: { readonly url: string; readonly pool: Pool },
  email: string,
): Promise<SignedIn> {
  const sessions = new Sessions(service.pool, [devIssuerUrl(service.url)]);
  const person = { ...identityOf(service, email), email, emailVerified: true, name: email };
  return withSession(service.url, await sessions.start(person, undefined), email);
}

/** Returns a person with the given session secret. */
export function withSession(url: string, secret: string, email: string): SignedIn {
  return {
    secret,
    email,
    async ask(path, { method = 'GET', body, headers = {} } = {}) {
      const all = {
        Cookie: `annal_session=${secret}`,
        'Sec-Fetch-Site': 'same-origin',
        'X-Service-Session': '1',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      };
      const sent = Object.entries(all).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, value]],
      );
      const response = await fetch(`${url}/app/api${path}`, {
        method,
        redirect: 'manual',
        headers: sent,
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      return new Answer(response.status, response.headers, await response.text());
    },
  };
}
