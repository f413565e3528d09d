/**
 * Issues and redeems the development issuer's authorization codes. A code is valid once, for one minute, and requires proof of
 * possession (RFC 7636).
 */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { saveCode, takeCode } from '#src/dev-issuer/store.ts';
import { type AuthorizationRequest, provesPossession } from './authorization.ts';
import type { DevIssuer } from './dev-issuer.ts';
import { findPerson } from './people.ts';

/** Lifetime of a code, in seconds. */
const CODE_S = 60;

const keptSchema = z.object({
  redirectUri: z.string(),
  challenge: z.string(),
  nonce: z.string().optional(),
  email: z.string(),
});

/** Issues a code for a person who has signed in. */
export async function issueCode(
  { client }: Pick<DevIssuer, 'client'>,
  { redirectUri, challenge, nonce }: AuthorizationRequest,
  email: string,
): Promise<string> {
  const code = randomBytes(32).toString('base64url');
  await saveCode(
    client,
    code,
    { redirectUri, challenge, nonce, email } satisfies z.input<typeof keptSchema>,
    CODE_S,
  );
  return code;
}

/** Returns the ID token for a code; undefined if the code is unknown, used, expired or for a different client. */
export async function redeemCode(
  issuer: DevIssuer,
  { code, redirectUri, verifier }: { code: string; redirectUri: string; verifier: string },
): Promise<string | undefined> {
  const kept = keptSchema.safeParse(await takeCode(issuer.client, code));
  if (!kept.success) return undefined;
  const { data } = kept;
  if (data.redirectUri !== redirectUri || !provesPossession(verifier, data.challenge)) return undefined;
  return issuer.idToken(findPerson(data.email), data.nonce);
}
