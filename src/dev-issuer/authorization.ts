/** Handles authorization requests to the development issuer (OpenID Connect Core 1.0, section 3.1.2; RFC 7636; RFC 8252). */
import { createHash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { isLoopback } from '#src/shared/loopback.ts';
import { DEV_CLIENT } from './dev-issuer.ts';

/** A valid authorization request, for which a code can be issued. */
export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly state: string | undefined;
  readonly nonce: string | undefined;
  readonly challenge: string;
  /** The e-mail address with which the sign-in page is prefilled. */
  readonly loginHint: string | undefined;
}

/** Thrown for an invalid authorization request. */
export class AuthorizationFault extends Error {
  override readonly name = 'AuthorizationFault';
  /**
   * @param code from RFC 6749, section 4.1.2.1, or OpenID Connect Core, section 3.1.2.6
   * @param answerTo where to report the fault to the client; undefined if it must only be shown to the person
   */
  constructor(
    readonly code: string,
    message: string,
    readonly answerTo?: { readonly redirectUri: string; readonly state: string | undefined },
  ) {
    super(message);
  }
}

/**
 * Returns whether codes may be sent to a URI: only to this machine at any port, or to the service's own origin. Otherwise, an
 * attacker could receive the token of the person signing in.
 */
function mayRedirectTo(uri: string, baseUrl: string): boolean {
  if (!URL.canParse(uri) || uri.includes('#')) return false;
  const { protocol, hostname, origin, username } = new URL(uri);
  if (!['http:', 'https:'].includes(protocol) || username !== '') return false;
  return isLoopback(hostname) || origin === new URL(baseUrl).origin;
}

const code = z
  .string()
  .regex(/^[\w.~-]{43,128}$/, 'code_challenge must have 43 to 128 URL-safe characters (PKCE)');

const schema = z.object({
  response_type: z.literal('code', 'response_type must be code'),
  scope: z
    .string('scope must contain openid')
    .refine((text) => text.split(' ').includes('openid'), 'scope must contain openid'),
  state: z.string().max(512, 'state must have at most 512 characters').optional(),
  nonce: z.string().max(255, 'nonce must have at most 255 characters').optional(),
  code_challenge: z.string('code_challenge is missing: PKCE is required').pipe(code),
  code_challenge_method: z.literal('S256', 'code_challenge_method must be S256'),
  response_mode: z.literal('query', 'response_mode must be query').optional(),
  request: z.undefined('request objects are not supported').optional(),
  request_uri: z.undefined('request objects are not supported').optional(),
  login_hint: z.string().max(254).optional().catch(undefined),
  prompt: z.string().optional(),
});

/**
 * Reads the query of `/dev/authorize`.
 * @param baseUrl the service's own base URL.
 * @throws AuthorizationFault
 */
export function readAuthorizationRequest(query: URLSearchParams, baseUrl: string): AuthorizationRequest {
  const twice = [...new Set(query.keys())].find((name) => query.getAll(name).length > 1);
  if (twice !== undefined) throw new AuthorizationFault('invalid_request', 'a parameter occurs twice');
  if (query.get('client_id') !== DEV_CLIENT) {
    throw new AuthorizationFault('invalid_request', `client_id must be ${DEV_CLIENT}`);
  }
  const redirectUri = query.get('redirect_uri') ?? '';
  if (!mayRedirectTo(redirectUri, baseUrl)) {
    throw new AuthorizationFault(
      'invalid_request',
      'redirect_uri must be a URL on this machine (http://localhost…)',
    );
  }
  const answerTo = { redirectUri, state: query.get('state') ?? undefined };
  const parsed = schema.safeParse(Object.fromEntries(query));
  if (!parsed.success) {
    const [first] = parsed.error.issues;
    const { path, message } = first ?? { path: [], message: 'the request cannot be read' };
    throw new AuthorizationFault(faultCode(String(path[0]), query), message, answerTo);
  }
  const { state, nonce, code_challenge: challenge, login_hint: loginHint, prompt } = parsed.data;
  // There are no sessions, so nobody stays signed in.
  if (prompt?.split(' ').includes('none')) {
    throw new AuthorizationFault('login_required', 'a person must sign in', answerTo);
  }
  return { redirectUri, state, nonce, challenge, loginHint };
}

function faultCode(parameter: string, query: URLSearchParams): string {
  if (parameter === 'response_type' && query.has('response_type')) return 'unsupported_response_type';
  if (parameter === 'scope') return 'invalid_scope';
  if (parameter === 'request') return 'request_not_supported';
  return parameter === 'request_uri' ? 'request_uri_not_supported' : 'invalid_request';
}

/** Returns the redirect_uri with parameters for the outcome (RFC 6749, section 4.1.2; RFC 9207). */
export function redirection(
  { redirectUri, state }: { readonly redirectUri: string; readonly state: string | undefined },
  outcome: Readonly<Record<string, string>>,
): string {
  const target = new URL(redirectUri);
  for (const [name, value] of Object.entries({ ...outcome, ...(state === undefined ? {} : { state }) })) {
    target.searchParams.append(name, value);
  }
  return target.href;
}

/** Returns whether a verifier matches the challenge under S256 (RFC 7636, section 4.6). */
export function provesPossession(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const asked = Buffer.from(challenge);
  return made.length === asked.length && timingSafeEqual(made, asked);
}
