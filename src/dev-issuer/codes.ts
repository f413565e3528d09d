/** Authorization codes of the development issuer: good once, for a minute, for who can prove to have asked (RFC 7636). */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { saveCode, takeCode } from '#src/dev-issuer/store.ts';
import { type AuthorizationRequest, provesPossession } from './authorization.ts';
import type { DevIssuer } from './dev-issuer.ts';
import { personOf } from './people.ts';

/** How long a code is good, in seconds. */
const CODE_S = 60;

const keptSchema = z.object({
  redirectUri: z.string(),
  challenge: z.string(),
  nonce: z.string().optional(),
  email: z.string(),
});

/** A code for whoever has signed in to answer a request. */
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

/** The ID token for a code; undefined when the code is unknown, used or too old, or was given to somebody else. */
export async function redeemCode(
  issuer: DevIssuer,
  { code, redirectUri, verifier }: { code: string; redirectUri: string; verifier: string },
): Promise<string | undefined> {
  const kept = keptSchema.safeParse(await takeCode(issuer.client, code));
  if (!kept.success) return undefined;
  const { data } = kept;
  if (data.redirectUri !== redirectUri || !provesPossession(verifier, data.challenge)) return undefined;
  return issuer.idToken(personOf(data.email), data.nonce);
}
