/** ID tokens of ours as hints (OpenID CIBA Core 1.0, section 7.1): expired ones count, too. */
import { compactVerify, createLocalJWKSet } from 'jose';
import { z } from 'zod';
import type { IdTokenParties } from '../id-token.ts';
import { SIGNING_ALGORITHM, type SigningKeys } from '../signing-keys.ts';

const claims = z.object({ iss: z.string(), aud: z.string(), sub: z.string().min(1).max(255) });
/** Ours have some 900 characters. */
const MAX_LENGTH = 12_000;

/**
 * Returns `sub` of an ID token that this service issued to a client; undefined for any other text, and for a token whose
 * key is no longer published.
 */
export async function subjectOfHint(
  keys: Pick<SigningKeys, 'published'>,
  { issuer, clientId }: IdTokenParties,
  token: string,
): Promise<string | undefined> {
  if (token.length > MAX_LENGTH) return undefined;
  const set = createLocalJWKSet(await keys.published());
  try {
    const { payload } = await compactVerify(token, set, { algorithms: [SIGNING_ALGORITHM] });
    const { iss, aud, sub } = claims.parse(JSON.parse(new TextDecoder().decode(payload)));
    return iss === issuer && aud === clientId ? sub : undefined;
  } catch {
    return undefined;
  }
}
