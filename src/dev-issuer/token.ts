/**
 * Handles token requests to the development issuer, which exchange a code for an ID token (RFC 6749, sections 4.1.3 and 5;
 * OpenID Connect Core 1.0, section 3.1.3).
 */
import { randomBytes } from 'node:crypto';
import { redeemCode } from './codes.ts';
import { DEV_CLIENT, DEV_TOKEN_S, type DevIssuer } from './dev-issuer.ts';

/** The response to a token request. */
export interface TokenAnswer {
  readonly status: 200 | 400;
  readonly body: object;
}

/**
 * Returns the response to a token request; errors follow RFC 6749, section 5.2.
 * @param form undefined if the body isn't a form
 */
export async function tokenAnswer(
  issuer: DevIssuer,
  form: URLSearchParams | undefined,
): Promise<TokenAnswer> {
  if (form === undefined)
    return refusal('invalid_request', 'the form is not valid application/x-www-form-urlencoded');
  const twice = [...new Set(form.keys())].some((name) => form.getAll(name).length > 1);
  if (twice) return refusal('invalid_request', 'a parameter occurs twice');
  const { grant_type, client_id, code, redirect_uri, code_verifier } = Object.fromEntries(form);
  if (grant_type !== 'authorization_code') {
    return refusal('unsupported_grant_type', 'grant_type must be authorization_code');
  }
  if (client_id !== DEV_CLIENT) return refusal('invalid_client', `client_id must be ${DEV_CLIENT}`);
  if (code === undefined || redirect_uri === undefined || code_verifier === undefined) {
    return refusal('invalid_request', 'code, redirect_uri and code_verifier are required');
  }
  const token = await redeemCode(issuer, { code, redirectUri: redirect_uri, verifier: code_verifier });
  if (token === undefined) {
    return refusal('invalid_grant', 'the code is unknown, used or expired, or was issued to another client');
  }
  return {
    status: 200,
    body: {
      // The standard requires an access token. This one gives access to nothing, because the interfaces accept the ID token.
      access_token: randomBytes(32).toString('base64url'),
      token_type: 'Bearer',
      expires_in: DEV_TOKEN_S,
      scope: 'openid email profile',
      id_token: token,
    },
  };
}

function refusal(error: string, description: string): TokenAnswer {
  return { status: 400, body: { error, error_description: description } };
}
