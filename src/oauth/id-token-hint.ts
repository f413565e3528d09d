/**
 * Reads this service's own ID tokens as hints (OpenID CIBA Core 1.0, section 7.1; RP-Initiated Logout 1.0, section 2). Expired
 * tokens are accepted too.
 */
import { compactVerify, createLocalJWKSet } from 'jose';
import { z } from 'zod';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

const claims = z.object({ iss: z.string(), aud: z.string(), sub: z.string().min(1).max(255) });
/** This service's own tokens have about 1,500 characters. */
const MAX_LENGTH = 12_000;

/** The client to which this service issued an ID token, and the person whom the token is about. */
export interface IdTokenHint {
  readonly clientId: string;
  /** The pairwise `sub`. */
  readonly subject: string;
}

/**
 * Reads an ID token that this service issued; undefined for any other text, and for a token whose key is no longer
 * published.
 */
export async function readIdTokenHint(
  keys: Pick<SigningKeys, 'published'>,
  issuer: string,
  token: string,
): Promise<IdTokenHint | undefined> {
  if (token.length > MAX_LENGTH) return undefined;
  const set = createLocalJWKSet(await keys.published());
  try {
    const { payload } = await compactVerify(token, set, { algorithms: [SIGNING_ALGORITHM] });
    const { iss, aud, sub } = claims.parse(JSON.parse(new TextDecoder().decode(payload)));
    return iss === issuer ? { clientId: aud, subject: sub } : undefined;
  } catch {
    return undefined;
  }
}
