/** Issues ID tokens (OpenID Connect Core 1.0, section 2; SMART App Launch 2.2, "Scopes for requesting identity data"). */
import { SignJWT } from 'jose';
import { SIGNING_ALGORITHM, type SigningKeys } from '../signing-keys.ts';
import type { Issued } from './issued.ts';

/** The issuer and the recipient of an ID token. */
export interface IdTokenParties {
  /** BASE_URL. */
  readonly issuer: string;
  readonly clientId: string;
}

/**
 * Returns the claim `fhirUser` for a person who granted access to their own record.
 * @param patient the pairwise id
 */
export function writeFhirUser(issuer: string, patient: string): string {
  return `${issuer}/fhir/R4/Patient/${patient}`;
}

/**
 * Returns the ID token that is issued together with a grant's tokens; undefined without the scope `openid`. It expires at the
 * same time as the access token. `fhirUser` is the person's own Patient, so it is left out for a dependent's record
 * (docs/spec/decisions.md, section 9).
 */
export async function idTokenFor(
  keys: Pick<SigningKeys, 'signing'>,
  { issuer, clientId }: IdTokenParties,
  issued: Issued,
): Promise<string | undefined> {
  const scopes = issued.scope.split(' ');
  if (!scopes.includes('openid')) return undefined;
  const { kid, key } = await keys.signing();
  const seconds = Math.floor(Date.now() / 1000);
  const names = scopes.includes('fhirUser') && issued.own;
  return new SignJWT({
    ...(issued.nonce === undefined ? {} : { nonce: issued.nonce }),
    ...(issued.authTime === undefined ? {} : { auth_time: issued.authTime }),
    ...(names ? { fhirUser: writeFhirUser(issuer, issued.patient) } : {}),
  })
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, kid, typ: 'JWT' })
    .setIssuer(issuer)
    .setSubject(issued.subject)
    .setAudience(clientId)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + issued.expiresIn)
    .sign(key);
}
