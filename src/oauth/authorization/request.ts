/**
 * Checks everything in an authorization request that can be checked without a session (docs/spec/interface.md, section 4.1;
 * docs/spec/decisions.md, section 9; OAuth 2.1, section 4.1.1; SMART App Launch 2.2, standalone launch; RFC 7636; RFC 8707;
 * RFC 9700).
 */
import { OAuthError, type OAuthErrorCode } from '../error.ts';
import { isGuestRedirect } from '../guests/metadata-document.ts';
import { knownScopes, parseScopes, type Scope, scopeText, uncovered } from '../scopes.ts';
import { type AnswerTo, PageFault, RedirectFault, type ResponseMode } from './faults.ts';

/** A request's parameters in the order received, decoded. */
export type Parameters = readonly (readonly [name: string, value: string])[];

/** The data about an application that the checks need. */
export interface RequestingClient {
  readonly environment: 'sandbox' | 'production';
  readonly organization: { readonly domain: string | undefined };
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  /** Only of a guest. */
  readonly guest?: { readonly host: string };
}

/** Values of `prompt` (OpenID Connect Core 1.0, section 3.1.2.1). */
const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;
type Prompt = (typeof PROMPTS)[number];

/** A request that a person can decide on. */
export interface AuthorizationRequest extends AnswerTo {
  readonly redirectUri: string;
  readonly state: string;
  readonly mode: ResponseMode;
  /** Returned in the ID token (OpenID Connect Core 1.0, section 3.1.2.1). */
  readonly nonce: string | undefined;
  /** The `code_challenge`, which uses S256. */
  readonly challenge: string;
  readonly scopes: readonly Scope[];
  /** The base URLs at which the tokens will work, without a slash at the end; empty for all. */
  readonly resources: readonly string[];
  readonly purpose: string | undefined;
  /** The pairwise id of the patient whose record the application asks for. */
  readonly patient: string | undefined;
  readonly lang: string | undefined;
  readonly prompt: ReadonlySet<Prompt>;
  /** The maximum number of seconds since the person last signed in. */
  readonly maxAge: number | undefined;
  /** Passed to the issuer's sign-in page. */
  readonly loginHint: string | undefined;
}

/** The maximum number of characters in all parameters together; longer requests are refused. */
const MAX_LENGTH = 16_000;
const MAX_RESOURCES = 10;
/** RFC 7636, section 4.2. */
const CHALLENGE = /^[A-Za-z0-9._~-]{43,128}$/;
/** The base URLs of the service's interfaces, relative to the service's own base URL (docs/spec/decisions.md, section 9). */
const BELOW = ['', '/fhir/R4', '/v1', '/mcp'];

/** Parameters that a request can use; all others are ignored (RFC 6749, section 3.1). */
const KNOWN = new Set([
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'response_mode',
  'purpose',
  'patient',
  'lang',
  'ui_locales',
  'resource',
  'aud',
  'prompt',
  'max_age',
  'login_hint',
  'request',
  'request_uri',
]);

/** Returns the request's parameters, leaving out those that the service ignores. */
export function ownParameters(parameters: Parameters): Parameters {
  return parameters.filter(([name, value]) => KNOWN.has(name) && value !== '');
}

/**
 * Returns the value of `client_id`.
 * @throws PageFault if there is not exactly one
 */
export function readClientId(parameters: Parameters): string {
  const ids = listValues(parameters, 'client_id');
  if (ids.length > 1) throw new PageFault('client', 400, 'client_id was sent twice', 'client_id');
  const [id = ''] = ids;
  if (!/^[\x21-\x7e]{0,200}$/.test(id))
    throw new PageFault('client', 400, 'client_id is unknown', 'client_id');
  if (id === '') throw new PageFault('client', 400, 'client_id is missing', 'client_id');
  return id;
}

/**
 * Checks a request.
 * @param client the client identified by `client_id`; undefined if there is none
 * @param baseUrl the service's base URL, without a slash at the end
 * @throws PageFault, RedirectFault
 */
export function readAuthorizationRequest(
  parameters: Parameters,
  client: RequestingClient | undefined,
  baseUrl: string,
): AuthorizationRequest {
  if (client === undefined) throw new PageFault('client', 400, 'client_id is unknown', 'client_id');
  const redirectUri = readRedirectUri(parameters, client);
  const isGuest = client.guest !== undefined;
  if (client.environment === 'production' && client.organization.domain === undefined && !isGuest) {
    throw new PageFault(
      'organization',
      403,
      'the organization of this production application has no confirmed domain',
    );
  }
  const state = readState(parameters);
  // Errors are also returned in the requested mode.
  const mode = readMode(parameters, redirectUri);
  const fault = (error: OAuthErrorCode, description: string): RedirectFault =>
    new RedirectFault(
      { redirectUri, state, mode: mode ?? 'query' },
      new OAuthError(error, description),
      readPrompts(parameters).includes('none'),
    );
  const challenges = listValues(parameters, 'code_challenge').filter((value) => value !== '');
  if (challenges.some((value) => value.length < 43 || value.length > 128)) {
    throw new PageFault('parameter', 422, 'code_challenge must have 43 to 128 characters', 'code_challenge');
  }
  const twice = repeated(parameters);
  if (twice !== undefined) throw fault('invalid_request', `${twice} was sent twice`);
  if (isTooLong(parameters)) {
    throw fault('invalid_request', `the request has more than ${MAX_LENGTH} characters`);
  }
  // A parameter without a value is treated as omitted (RFC 6749, section 3.1).
  const given = new Map(parameters.filter(([, value]) => value !== ''));
  const text = (name: string, longest: number): string | undefined => {
    const value = given.get(name);
    if (value !== undefined && [...value].length > longest)
      throw fault('invalid_request', `${name} must have at most ${longest} characters`);
    if (value !== undefined && /\p{Cc}|\ufffd/u.test(value))
      throw fault('invalid_request', `${name} must be UTF-8 text without control characters`);
    return value;
  };
  if (given.has('request')) throw fault('request_not_supported', 'request objects are not supported');
  if (given.has('request_uri')) {
    throw fault(
      'request_uri_not_supported',
      'request_uri and pushed authorization requests are not supported',
    );
  }
  if (!client.grantTypes.includes('authorization_code')) {
    throw fault('unauthorized_client', 'the application is not registered for authorization_code');
  }
  const responseType = given.get('response_type');
  if (responseType === undefined) throw fault('invalid_request', 'response_type is missing: it must be code');
  if (responseType !== 'code') throw fault('unsupported_response_type', 'response_type must be code');
  if (mode === undefined) {
    throw fault(
      'invalid_request',
      'response_mode must be query or form_post; form_post needs an https redirect_uri (http only on localhost)',
    );
  }
  const challenge = given.get('code_challenge');
  if (challenge === undefined) throw fault('invalid_request', 'code_challenge is missing: PKCE is required');
  if ((given.get('code_challenge_method') ?? 'S256') !== 'S256') {
    throw fault('invalid_request', 'code_challenge_method must be S256');
  }
  if (!CHALLENGE.test(challenge)) {
    throw fault('invalid_request', 'code_challenge must consist of letters, digits and - . _ ~');
  }
  if (given.has('aud') && ownResource(given.get('aud') ?? '', baseUrl) === undefined) {
    throw fault('invalid_request', `aud must be ${baseUrl}/fhir/R4 or another base URL of this service`);
  }
  // Uses `parameters`, because `given` lacks parameters without a value.
  if (listValues(parameters, 'nonce').includes('')) {
    throw fault('invalid_request', 'nonce must have 1 to 512 characters');
  }
  const maxAge = given.get('max_age');
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge)) {
    throw fault('invalid_request', 'max_age must be a number of seconds, for example 3600');
  }
  return {
    redirectUri,
    state,
    mode,
    nonce: text('nonce', 512),
    challenge,
    scopes: readScopes(given.get('scope'), client, fault),
    resources: readResources(listValues(parameters, 'resource'), baseUrl, fault),
    purpose: text('purpose', 100)?.trim() || undefined,
    patient: text('patient', 100),
    lang: text('lang', 35),
    prompt: readPrompt(given.get('prompt'), fault),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
    loginHint: text('login_hint', 254),
  };
}

type Fault = (error: OAuthErrorCode, description: string) => RedirectFault;

function listValues(parameters: Parameters, name: string): string[] {
  return parameters.flatMap(([own, value]) => (own === name ? [value] : []));
}

/**
 * Returns the first parameter that is repeated without permission; only `resource` may be repeated (RFC 6749, section 3.1; RFC
 * 8707, section 2).
 */
function repeated(parameters: Parameters): string | undefined {
  const names = new Set<string>();
  for (const [name] of parameters) {
    if (names.has(name) && name !== 'resource') return KNOWN.has(name) ? name : 'a parameter';
    names.add(name);
  }
  return undefined;
}

/** Returns whether a request has more than `MAX_LENGTH` characters. */
export function isTooLong(parameters: Parameters): boolean {
  return parameters.reduce((sum, [name, value]) => sum + name.length + value.length, 0) > MAX_LENGTH;
}

/**
 * Returns the redirect URI, which must match a registered URI exactly (RFC 9700, section 2.1). Only a guest's loopback URI may
 * have any port.
 */
function readRedirectUri(parameters: Parameters, { redirectUris, guest }: RequestingClient): string {
  const [uri = '', second] = listValues(parameters, 'redirect_uri');
  const detail =
    second !== undefined
      ? 'redirect_uri was sent twice'
      : uri === ''
        ? 'redirect_uri is missing'
        : redirectUris.includes(uri) || (guest !== undefined && isGuestRedirect(uri, redirectUris))
          ? undefined
          : 'redirect_uri differs from every registered URI; it must match one of them character by character';
  if (detail !== undefined) throw new PageFault('redirect', 400, detail, 'redirect_uri');
  return uri;
}

function readState(parameters: Parameters): string {
  const [state = '', second] = listValues(parameters, 'state');
  const { length } = [...state.slice(0, 2_000)];
  const detail =
    second !== undefined
      ? 'state was sent twice'
      : length < 1 || length > 512
        ? 'state must have 1 to 512 characters'
        : // Bytes that aren't UTF-8 can't be sent back unchanged.
          state.includes('\ufffd')
          ? 'state must be UTF-8 text'
          : undefined;
  if (detail !== undefined) throw new PageFault('parameter', 422, detail, 'state');
  return state;
}

/** Returns how to send the answer; undefined for a mode that isn't supported, at least not with this redirect URI. */
function readMode(parameters: Parameters, redirectUri: string): ResponseMode | undefined {
  const [mode = 'query', ...more] = listValues(parameters, 'response_mode').filter((value) => value !== '');
  if (more.length > 0) return 'query';
  if (mode === 'query') return mode;
  return mode === 'form_post' && /^https?:/i.test(redirectUri) ? mode : undefined;
}

/** Returns the values of `prompt`, whether valid or not. */
function readPrompts(parameters: Parameters): string[] {
  return listValues(parameters, 'prompt').flatMap((value) => value.split(' '));
}

/** Returns the requested scopes; without `scope`, the scopes that the application is registered for. */
function readScopes(asked: string | undefined, client: RequestingClient, fault: Fault): readonly Scope[] {
  const refreshes = client.grantTypes.includes('refresh_token');
  // Unless the application has this grant type, a refresh token would never work, so the person would be asked to allow
  // something useless.
  const registered = knownScopes(client.scopes).filter((scope) => refreshes || scope !== 'offline_access');
  // A guest isn't registered here, so the service doesn't know which scopes it needs.
  if (asked === undefined && client.guest !== undefined)
    throw fault('invalid_scope', 'scope is missing: list the scopes that the application needs');
  const parsed = asked === undefined ? { scopes: registered.filter(isOfPatients) } : parseScopes(asked);
  if ('fault' in parsed) throw fault('invalid_scope', parsed.fault);
  const { scopes } = parsed;
  if (scopes.length === 0) throw fault('invalid_scope', 'scope contains no scope that a person can allow');
  const system = scopes.find((scope) => !isOfPatients(scope));
  if (system !== undefined) {
    throw fault('invalid_scope', `${scopeText(system)} can only be requested with client_credentials`);
  }
  const [foreign] = uncovered(registered, scopes);
  if (foreign !== undefined) {
    const missing =
      foreign === 'offline_access' && !refreshes ? 'the grant type refresh_token' : scopeText(foreign);
    throw fault('invalid_scope', `the application is not registered for ${missing}`);
  }
  return scopes;
}

const isOfPatients = (scope: Scope): boolean => typeof scope === 'string' || scope.context === 'patient';

function readResources(values: readonly string[], baseUrl: string, fault: Fault): readonly string[] {
  if (values.length > MAX_RESOURCES) {
    throw fault('invalid_target', `resource can be sent at most ${MAX_RESOURCES} times`);
  }
  const resources = values
    .filter((value) => value !== '')
    .map((value) => {
      const own = ownResource(value, baseUrl);
      if (own !== undefined) return own;
      throw fault(
        'invalid_target',
        `resource must be ${baseUrl}/fhir/R4 or another base URL of this service`,
      );
    });
  return [...new Set(resources)];
}

/** Returns the URL without a slash at its end if it is one of the service's base URLs; otherwise undefined. */
export function ownResource(url: string, baseUrl: string): string | undefined {
  const bare = url.endsWith('/') ? url.slice(0, -1) : url;
  return BELOW.some((path) => baseUrl + path === bare) ? bare : undefined;
}

function readPrompt(text: string | undefined, fault: Fault): ReadonlySet<Prompt> {
  const names = (text ?? '').split(' ').filter((name) => name !== '');
  const prompts = PROMPTS.filter((prompt) => names.includes(prompt));
  if (names.some((name) => !prompts.some((prompt) => prompt === name))) {
    throw fault('invalid_request', `prompt must consist of ${PROMPTS.join(', ')}`);
  }
  if (prompts.includes('none') && prompts.length > 1) {
    throw fault('invalid_request', 'prompt must not combine none with other values');
  }
  return new Set(prompts);
}
