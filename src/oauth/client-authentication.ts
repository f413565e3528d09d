/**
 * Authenticates OAuth clients: `none` for public clients; `client_secret_basic`, `client_secret_post` and `private_key_jwt`
 * for confidential clients (RFC 6749, section 2.3; OAuth 2.1, section 2.4; OpenID Connect Core 1.0, section 9).
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Pool } from 'pg';
import { type CustomerHosts, customerHosts } from '../shared/customer-hosts.ts';
import { useAssertionId } from './assertion-ids.ts';
import { ASSERTION_TYPE, AssertionFault, AssertionVerifier, assertedClient } from './client-assertion.ts';
import type { Client, FindClient } from './clients.ts';
import { OAuthError } from './error.ts';
import { countedFor, FailureLimit } from './failure-limit.ts';

/** The supported methods, as the discovery documents list them. */
export const CLIENT_AUTHENTICATION_METHODS = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const;

/** The maximum lengths of the `Authorization` header, and of a client id or secret, in characters. */
const MAX_HEADER = 2_000;
const MAX_VALUE = 500;
const UNKNOWN = 'client authentication failed: the client is unknown, or its secret is wrong or has expired';

/**
 * Authenticates the client in a request to the token, revocation or introspection endpoint.
 * @param form parameters from the body; none of them may occur twice
 * @throws OAuthError invalid_client (401); invalid_request for more than one method; with status 429 after 20 failures of the
 *   client from the address within a minute, or after 100 failures from the address
 */
export type AuthenticateClient = (
  headers: { readonly authorization?: string | undefined },
  form: URLSearchParams,
  from: { readonly address: string },
) => Promise<Client>;

/** The credential that a request presents. `clientId` is only a claim at this point. */
type Presented =
  | { readonly method: 'none'; readonly clientId: string }
  | { readonly method: 'refresh_token'; readonly token: string }
  | { readonly method: 'secret'; readonly clientId: string; readonly secret: string }
  | { readonly method: 'assertion'; readonly clientId: string; readonly assertion: string };

/** A credential that names the client it belongs to. */
type Identified = Exclude<Presented, { readonly method: 'refresh_token' }>;

/** Thrown internally for errors that count as failures; the message is sent to the client. */
class Failed extends Error {
  override readonly name = 'Failed';
}

/** Creates the function that authenticates clients. */
export function openClientAuthentication(deps: {
  readonly findClient: FindClient;
  readonly pool: Pool;
  /** The service's URL, which is also the issuer. */
  readonly baseUrl: string;
  /** Connects to the hosts in `jwks_uri`; by default, only to public addresses. */
  readonly hosts?: CustomerHosts;
  readonly onAway?: (jwksUri: string, error: Error) => void;
  /** The clock, in ms. Default: `Date.now`. */
  readonly now?: () => number;
}): AuthenticateClient {
  const { findClient, pool, baseUrl, now = Date.now } = deps;
  const limit = new FailureLimit(pool);
  const assertions = new AssertionVerifier({
    // OpenID CIBA Core 1.0, section 7.1, requires the third value.
    audiences: [baseUrl, `${baseUrl}/oauth/token`, `${baseUrl}/oauth/bc-authorize`],
    hosts: deps.hosts ?? customerHosts(true),
    onAway: deps.onAway ?? (() => undefined),
    now,
  });

  const verify = async (client: Client | undefined, presented: Identified): Promise<Client> => {
    if (presented.method === 'secret') {
      const right = matchesSecret(client, presented.secret);
      if (client === undefined || !right) throw new Failed(UNKNOWN);
      return client;
    }
    if (client === undefined) throw new Failed(UNKNOWN);
    if (presented.method === 'none') {
      if (client.kind === 'public') return client;
      throw new Failed('this client is confidential: it must authenticate');
    }
    const { jti, expiresAt } = await assertions.verify(client, presented.assertion);
    const application = client.applicationId;
    if (!(await useAssertionId(pool, { application, jti, expiresAt })))
      throw new Failed('jti of the assertion was used before');
    return client;
  };

  return async (headers, form, { address }) => {
    let counted = countedFor(address, undefined);
    let isChecked = false;
    try {
      const asked = readPresented(headers.authorization, form);
      const presented = asked.method === 'refresh_token' ? await findHolder(pool, asked.token) : asked;
      const { clientId } = presented;
      counted = countedFor(address, clientId);
      if (!/^[\x20-\x7e]*$/.test(clientId)) throw new Failed(UNKNOWN);
      await limit.check(counted);
      isChecked = true;
      return await verify(await findClient(clientId), presented);
    } catch (error) {
      if (!(error instanceof Failed || error instanceof AssertionFault)) throw error;
      if (!isChecked) await limit.check(counted);
      await limit.note(counted);
      throw new OAuthError('invalid_client', error.message);
    }
  };
}

/**
 * Reads a request's credentials.
 * @throws OAuthError invalid_request for more than one method (RFC 6749, section 2.3) or a parameter that occurs twice; Failed
 */
function readPresented(authorization: string | undefined, form: URLSearchParams): Presented {
  const one = (name: string): string | undefined => {
    const values = form.getAll(name);
    if (values.length > 1) throw new OAuthError('invalid_request', `${name} occurs twice`);
    // RFC 6749, section 3.2: a parameter without a value is treated as omitted.
    return values[0] === '' ? undefined : values[0];
  };
  const clientId = one('client_id');
  const secret = one('client_secret');
  const assertion = one('client_assertion');
  const type = one('client_assertion_type');
  const methods = [authorization, secret, assertion ?? type].filter((each) => each !== undefined);
  if (methods.length > 1)
    throw new OAuthError('invalid_request', 'use only one method of client authentication');
  if (authorization !== undefined) {
    const basic = readBasic(authorization);
    return { method: 'secret', ...basic, clientId: sameClient(basic.clientId, clientId) };
  }
  if (assertion !== undefined || type !== undefined) {
    if (assertion === undefined) throw new OAuthError('invalid_request', 'client_assertion is missing');
    if (type !== ASSERTION_TYPE)
      throw new OAuthError('invalid_request', `client_assertion_type must be ${ASSERTION_TYPE}`);
    const asserted = assertedClient(assertion);
    if (asserted === undefined) throw new Failed('client_assertion is not a JWT with the client in sub');
    return { method: 'assertion', assertion, clientId: sameClient(asserted, clientId) };
  }
  if (clientId === undefined) {
    const token = one('grant_type') === 'refresh_token' ? one('refresh_token') : undefined;
    if (token !== undefined && secret === undefined) return { method: 'refresh_token', token };
    throw new Failed('the request names no client: send client_id');
  }
  return secret === undefined
    ? { method: 'none', clientId }
    : { method: 'secret', clientId, secret: secret.slice(0, MAX_VALUE + 1) };
}

// Index: primary key of operations.oauth_token.
const HOLDER = `
  select a.client_id from operations.oauth_token t join projects.application a on a.id = t.application_id
  where t.sha256 = sha256($1::bytea) and t.kind = 'refresh'`;

/**
 * Finds the client for a refresh request that doesn't name one. Such a request may contain only the token
 * (docs/spec/interface.md, section 4.1), as is common in browser applications. A confidential client still has to authenticate
 * itself.
 * @throws Failed for an unknown token
 */
async function findHolder(pool: Pool, token: string): Promise<Identified> {
  const { rows } = await pool.query<{ client_id: string }>({
    name: 'client-of-refresh-token',
    text: HOLDER,
    values: [Buffer.from(token)],
  });
  const [row] = rows;
  if (row === undefined) throw new Failed('the request names no client: send client_id');
  return { method: 'none', clientId: row.client_id };
}

/**
 * Returns the id from the credentials.
 * @throws OAuthError invalid_request if `client_id` is different
 */
function sameClient(id: string, parameter: string | undefined): string {
  if (parameter !== undefined && parameter !== id)
    throw new OAuthError('invalid_request', 'client_id differs from the client that authenticates');
  return id;
}

/**
 * Reads `Basic`, in which id and secret are form-urlencoded (RFC 6749, section 2.3.1; RFC 7617).
 * @throws Failed
 */
function readBasic(header: string): { readonly clientId: string; readonly secret: string } {
  const [, encoded] =
    (header.length > MAX_HEADER ? null : /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header)) ?? [];
  if (encoded === undefined) throw new Failed('the Authorization header must be Basic with id and secret');
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw new Failed('the Authorization header must be Basic with id and secret');
  return { clientId: formDecoded(text.slice(0, colon)), secret: formDecoded(text.slice(colon + 1)) };
}

function formDecoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Failed('id and secret must be form-urlencoded in the Authorization header');
  }
}

/** Compares a secret with all of the client's valid secrets. Takes the same time if the client has no secrets. */
function matchesSecret(client: Client | undefined, secret: string): boolean {
  const given = createHash('sha256').update(secret).digest();
  const known = client?.secrets.map(({ sha256 }) => Buffer.from(sha256, 'hex')) ?? [];
  const compared = [...known, ...Array.from({ length: 2 - known.length }, () => Buffer.alloc(32))];
  const equal = compared.map((hash) => hash.byteLength === given.byteLength && timingSafeEqual(hash, given));
  return secret !== '' && equal.includes(true);
}
