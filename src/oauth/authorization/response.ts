/** Builds the answers to authorization requests, as URLs (RFC 6749, section 4.1.2; RFC 9207). */
import { isSourceHost } from '#src/shared/source-host.ts';
import type { AnswerTo } from './faults.ts';

/** A code, or `error` and `error_description`. */
export type Outcome = Readonly<Record<string, string>>;

/**
 * Returns an answer's parameters, with `state` and `iss`.
 * @param issuer this service's issuer, the `iss` of RFC 9207
 */
export function answerParameters(
  { state }: Pick<AnswerTo, 'state'>,
  issuer: string,
  outcome: Outcome,
): Outcome {
  return { ...outcome, state, iss: issuer };
}

/**
 * Returns the redirect URI with the answer's parameters, `state` and `iss` appended to its own query, which stays unchanged.
 * Values are percent-encoded, because not every application reads `+` as a space.
 * @param issuer this service's issuer, the `iss` of RFC 9207
 */
export function redirection(
  { redirectUri, state }: Pick<AnswerTo, 'redirectUri' | 'state'>,
  issuer: string,
  outcome: Outcome,
): string {
  const parameters = Object.entries(answerParameters({ state }, issuer, outcome))
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');
  const joint = !redirectUri.includes('?') ? '?' : /[?&]$/.test(redirectUri) ? '' : '&';
  return `${redirectUri}${joint}${parameters}`;
}

/**
 * Returns the source expression for `form-action` that allows a redirect to an application. It allows for the way in which
 * Chromium checks redirects after forms are submitted. It is the origin of an http or https URL, otherwise the scheme
 * (https://www.w3.org/TR/CSP3/#match-url-to-source-list). The syntax of sources allows neither IPv6 addresses nor `;`, so
 * hosts with these are also allowed by their scheme.
 */
export function formTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && isSourceHost(hostname) ? origin : protocol;
}
