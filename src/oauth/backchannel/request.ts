/**
 * Checks everything in a backchannel authentication request (OpenID CIBA Core 1.0, sections 7.1 and 7.2;
 * docs/spec/decisions.md, section 7). No check depends on whether a person or record exists.
 */
import { ownResource } from '../authorization/request.ts';
import type { Client } from '../clients.ts';
import { OAuthError } from '../error.ts';
import { knownScopes, normalise, parseScopes, scopeText, uncovered } from '../scopes.ts';

/** The grant type (OpenID CIBA Core 1.0, section 4). */
export const CIBA_GRANT = 'urn:openid:params:grant-type:ciba';
/** How long a person has to decide, in seconds, unless the request specifies a shorter time. */
export const EXPIRES_S = 600;
/** Interval between two polls, in seconds. */
export const INTERVAL_S = 5;

/** The request's hint about the person. `hint` is an address in lower case, a pairwise Patient id, or a `sub`. */
export interface PersonHint {
  readonly kind: 'email' | 'patient' | 'subject';
  readonly hint: string;
}

/** A request that a person can decide on. */
export interface BackchannelRequest {
  /** The requested scopes, normalised: all or some of the application's scopes. */
  readonly scope: string;
  readonly hint: PersonHint;
  readonly bindingMessage: string | undefined;
  /** In seconds. */
  readonly expiresIn: number;
  readonly resources: readonly string[];
}

/** A request's parameters, without empty ones. */
export interface BackchannelForm {
  readonly one: (name: string) => string | undefined;
  readonly all: (name: string) => readonly string[];
}

/** Inputs to the checks. */
export interface BackchannelChecks {
  readonly client: Client;
  readonly baseUrl: string;
  /** Returns the `sub` of an ID token that this service issued to the client; undefined for any other text. */
  readonly readSubject: (idToken: string) => Promise<string | undefined>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ADDRESS = /^[^\s@]{1,64}@[^\s@]{1,189}$/u;
const UNSHOWABLE = /\p{Cc}|\ufffd/u;
const MAX_RESOURCES = 10;
/** The maximum number of characters in `binding_message`. */
const MAX_MESSAGE = 64;

/**
 * Checks a request from an authenticated client.
 * @throws OAuthError unauthorized_client, invalid_request, invalid_scope, invalid_binding_message, invalid_target
 */
export async function readBackchannelRequest(
  form: BackchannelForm,
  checks: BackchannelChecks,
): Promise<BackchannelRequest> {
  requireAllowed(checks.client);
  const { one } = form;
  for (const name of ['request', 'request_uri'])
    if (one(name) !== undefined)
      throw new OAuthError('invalid_request', 'signed requests are not supported: send the parameters');
  return {
    scope: readScope(one('scope'), checks.client),
    bindingMessage: readMessage(one('binding_message')),
    expiresIn: readExpiresIn(one('requested_expiry')),
    resources: readResources(form.all('resource'), checks.baseUrl),
    hint: await readHint(one, checks.readSubject),
  };
}

/** @throws OAuthError unauthorized_client */
function requireAllowed({ grantTypes, kind, environment, organization }: Client): void {
  const fault = !grantTypes.includes(CIBA_GRANT)
    ? `the application is not registered for ${CIBA_GRANT}`
    : kind !== 'confidential'
      ? `${CIBA_GRANT} requires a confidential application`
      : environment === 'production' && organization.domain === undefined
        ? 'the organization of this production application has no confirmed domain'
        : undefined;
  if (fault !== undefined) throw new OAuthError('unauthorized_client', fault);
}

async function readHint(
  one: BackchannelForm['one'],
  readSubject: BackchannelChecks['readSubject'],
): Promise<PersonHint> {
  const [loginHint, idToken, hintToken] = [one('login_hint'), one('id_token_hint'), one('login_hint_token')];
  if (hintToken !== undefined)
    throw new OAuthError(
      'invalid_request',
      'login_hint_token is not supported: send login_hint or id_token_hint',
    );
  if (loginHint !== undefined && idToken !== undefined)
    throw new OAuthError('invalid_request', 'send one of login_hint and id_token_hint, not both');
  if (idToken !== undefined) {
    const hint = await readSubject(idToken);
    if (hint !== undefined) return { kind: 'subject', hint };
    throw new OAuthError(
      'invalid_request',
      'id_token_hint must be an ID token that this service issued to the application',
    );
  }
  if (loginHint === undefined)
    throw new OAuthError('invalid_request', 'the parameter login_hint or id_token_hint is missing');
  if (UUID.test(loginHint)) return { kind: 'patient', hint: loginHint.toLowerCase() };
  if (ADDRESS.test(loginHint) && !UNSHOWABLE.test(loginHint))
    return { kind: 'email', hint: loginHint.toLowerCase() };
  throw new OAuthError(
    'invalid_request',
    'login_hint must be an e-mail address, or the id under which the application knows the patient',
  );
}

/** @throws OAuthError invalid_scope; CIBA requires `openid` (section 7.1) */
function readScope(text: string | undefined, client: Client): string {
  if (text === undefined) throw new OAuthError('invalid_request', 'the parameter scope is missing');
  const parsed = parseScopes(text);
  if ('fault' in parsed) throw new OAuthError('invalid_scope', parsed.fault);
  const { scopes } = parsed;
  if (!scopes.includes('openid')) throw new OAuthError('invalid_scope', 'scope must contain openid');
  const system = scopes.find((scope) => typeof scope !== 'string' && scope.context === 'system');
  const [foreign = system] = uncovered(knownScopes(client.scopes), scopes);
  if (system !== undefined || foreign !== undefined)
    throw new OAuthError(
      'invalid_scope',
      system === undefined && foreign !== undefined
        ? `the application is not registered for ${scopeText(foreign)}`
        : 'system/ scopes can only be requested with client_credentials',
    );
  if (scopes.includes('offline_access') && !client.grantTypes.includes('refresh_token'))
    throw new OAuthError(
      'invalid_scope',
      'offline_access: the application is not registered for the grant type refresh_token',
    );
  return normalise(scopes).join(' ');
}

function readMessage(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (text.length > 4 * MAX_MESSAGE || [...text].length > MAX_MESSAGE || UNSHOWABLE.test(text))
    throw new OAuthError(
      'invalid_binding_message',
      `binding_message must be text of at most ${MAX_MESSAGE} characters, without control characters`,
    );
  return text.trim() === '' ? undefined : text.trim();
}

function readExpiresIn(text: string | undefined): number {
  if (text === undefined) return EXPIRES_S;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new OAuthError('invalid_request', 'requested_expiry must be a number of seconds, for example 300');
  return Math.min(Number(text), EXPIRES_S);
}

function readResources(values: readonly string[], baseUrl: string): readonly string[] {
  const own = values.slice(0, MAX_RESOURCES).flatMap((value) => ownResource(value, baseUrl) ?? []);
  if (own.length === values.length) return [...new Set(own)];
  throw new OAuthError(
    'invalid_target',
    `resource must be ${baseUrl}/fhir/R4 or another base URL of this service`,
  );
}
