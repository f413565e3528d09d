/**
 * Formats errors for the endpoints that clients call: the JSON in RFC 6749, section 5.2 (docs/spec/decisions.md, section 2).
 */
import { z } from 'zod';
import { OAuthError, type OAuthErrorCode } from '#src/oauth/error.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import type { DescribedAnswer } from '../api/route.ts';

/** Headers of every response that contains or concerns tokens, including errors (RFC 6749, section 5.1). */
export const NOT_STORED = { 'Cache-Control': 'no-store', Pragma: 'no-cache' } as const;

/** Codes for refusals that aren't caused by the request. */
const CODES: Partial<Record<Refusal['kind'], OAuthErrorCode>> = {
  unauthenticated: 'invalid_token',
  throttled: 'temporarily_unavailable',
  unavailable: 'temporarily_unavailable',
  internal: 'server_error',
};

/** Converts one of the service's refusals to an OAuth error with the same status. */
export function asOAuthError(refusal: Refusal): OAuthError {
  const { kind, message, status, headers } = refusal;
  return new OAuthError(CODES[kind] ?? 'invalid_request', message, { status, headers });
}

/** Returns the response for an error. */
export function oauthErrorAnswer(error: OAuthError): Answer {
  return {
    status: error.status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...NOT_STORED, ...error.headers },
    body: JSON.stringify(error.body),
  };
}

const schema = z
  .object({ error: z.string(), error_description: z.string() })
  .describe('RFC 6749, section 5.2.');

/**
 * Returns an endpoint's errors for the OpenAPI document.
 * @param descriptions by status
 */
export function describeErrors(
  descriptions: Readonly<Record<number, string>>,
): Readonly<Record<number, DescribedAnswer>> {
  const entries = Object.entries(descriptions).map(([status, description]) => [
    status,
    { description, schema },
  ]);
  return Object.fromEntries(entries);
}
