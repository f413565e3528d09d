/**
 * Reads our own ID tokens as hints (OpenID CIBA Core 1.0, section 7.1; RP-Initiated Logout 1.0, section 2). Expired tokens
 * count too.
 */
import { compactVerify, createLocalJWKSet } from 'jose';
import { z } from 'zod';
import { SIGNING_ALGORITHM, type SigningKeys } from './signing-keys.ts';

const claims = z.object({ iss: z.string(), aud: z.string(), sub: z.string().min(1).max(255) });
/** Our own tokens have about 1,500 characters. */
const MAX_LENGTH = 12_000;

/** The client to which one of our ID tokens was issued, and the token's person. */
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
