/** The refusal for access tokens that don't work (RFC 6750, section 3.1). */
import { Refusal } from '../refusal.ts';

/** Returns the refusal (401) for an access token that doesn't work. Clients then get a new token. */
export function invalidToken(diagnostics: string): Refusal {
  return new Refusal(
    'unauthenticated',
    { code: 'login', diagnostics },
    { 'WWW-Authenticate': 'Bearer realm="annal", error="invalid_token"' },
  );
}

/** The message about a token that no longer works or never worked. */
export const ENDED_TOKEN = 'the access token is unknown, expired or revoked, or its grant has ended';
