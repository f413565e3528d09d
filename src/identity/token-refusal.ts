/** Builds refusals for tokens: 401 with a sentence for developers, in the body and in the challenge (RFC 6750, section 3). */
import { errors } from 'jose';
import { Refusal } from '#src/shared/refusal.ts';

/** Characters that `error_description` must not contain. */
const NOT_IN_CHALLENGE = /[^\x20\x21\x23-\x5b\x5d-\x7e]/g;

/**
 * Returns the refusal for an ID token.
 * @param reason one sentence, which quotes nothing from the token except its times
 */
export function refusedToken(reason: string): Refusal {
  const description = reason.replace(NOT_IN_CHALLENGE, '?');
  return new Refusal(
    'unauthenticated',
    { code: 'login', diagnostics: reason },
    { 'WWW-Authenticate': `Bearer realm="annal", error="invalid_token", error_description="${description}"` },
  );
}

/** The token was issued for another client. */
export const WRONG_AUDIENCE = 'aud must contain the audience configured for the issuer';
/** The token's issue time is in the future. */
export const WRONG_ISSUE_TIME = 'iat must be a number of seconds that is not in the future';

/** The requirement for each claim, worded for the issuer's developer. */
const CLAIMS: Readonly<Record<string, string>> = {
  iss: 'iss must be a trusted issuer',
  aud: WRONG_AUDIENCE,
  sub: 'sub must be the id of the person',
  exp: 'exp must be a number of seconds',
  iat: WRONG_ISSUE_TIME,
  nbf: 'the ID token is not valid yet: nbf is in the future',
};

/** Returns the refusal for an error that jose found in a token; undefined for any other error. */
export function refuseJoseError(error: unknown): Refusal | undefined {
  if (error instanceof errors.JWTExpired) {
    const at = error.payload.exp;
    const when =
      at === undefined || !Number.isFinite(at) || Math.abs(at) > 8e12 ? '' : ` at ${formatTime(at)}`;
    return refusedToken(`the ID token expired${when}`);
  }
  if (error instanceof errors.JWTClaimValidationFailed) {
    const rule = CLAIMS[error.claim] ?? 'a claim is invalid';
    return refusedToken(error.reason === 'missing' ? `the ID token has no ${error.claim}: ${rule}` : rule);
  }
  if (error instanceof errors.JWKSNoMatchingKey) {
    return refusedToken('the ID token is signed with a key that its issuer does not publish');
  }
  if (error instanceof errors.JWKSMultipleMatchingKeys) {
    return refusedToken('the header of the ID token must name its key (kid), because its issuer has several');
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) {
    return refusedToken('the signature of the ID token is invalid');
  }
  if (error instanceof errors.JOSENotSupported) {
    return refusedToken('the header of the ID token requires an unsupported feature');
  }
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) {
    return refusedToken('the ID token is not a signed JWT');
  }
  return undefined;
}

function formatTime(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
