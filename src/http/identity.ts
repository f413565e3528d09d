/** ID tokens as credentials of `/admin` and `/me` (docs/spec/interface.md, section 5). */
import type { Identity } from '#src/shared/identity.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Prefixes of other credentials, and the interfaces that accept them. */
const ELSEWHERE: readonly (readonly [RegExp, string])[] = [
  [/^sk_(?:test|live)_/, 'API keys are for /fhir/R4 and /v1'],
  [/^at_/, 'access tokens are for /fhir/R4 and /v1'],
];

const NEEDED =
  'this interface requires an ID token (JWT) from an OpenID Connect issuer, as Authorization: Bearer';

/**
 * Creates the function that identifies the subject of a bearer credential.
 * @returns a function that throws Refusal unauthenticated (401) for anything but a valid ID token, and
 * unavailable (503) when the issuer's keys can't be fetched.
 */
export function openIdentify(
  verify: (credential: string) => Promise<Identity>,
): (credential: string) => Promise<Identity> {
  return async (credential) => {
    const other = ELSEWHERE.find(([form]) => form.test(credential));
    if (other === undefined) return verify(credential);
    throw new Refusal(
      'unauthenticated',
      { code: 'login', diagnostics: `${other[1]}; ${NEEDED}` },
      { 'WWW-Authenticate': 'Bearer realm="annal", error="invalid_token"' },
    );
  };
}
