/**
 * Public keys of clients that authenticate with `private_key_jwt` (RFC 7517; RFC 7518, section 6; SMART App Launch 2.2,
 * "Client Authentication: Asymmetric").
 */
import { createPublicKey } from 'node:crypto';
import { z } from 'zod';

/** Signature algorithms of client assertions, as the discovery documents list them. */
export const ASSERTION_ALGORITHMS = ['RS384', 'ES384', 'RS256', 'ES256', 'PS256', 'PS384'] as const;

/** The maximum number of keys in a set. */
const MOST_KEYS = 20;
/**
 * Limits for the size of an RSA modulus, in bits: NIST SP 800-131A requires 2048; verification with larger moduli takes too
 * long.
 */
const RSA_BITS = { least: 2_048, most: 8_192 };
/** Members of private or symmetric keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1). */
const SECRET = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

const base64url = (most: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url')
    .max(most);
const common = {
  kid: z.string().min(1).max(200).exactOptional(),
  use: z.literal('sig').exactOptional(),
  alg: z.enum(ASSERTION_ALGORITHMS).exactOptional(),
};
const rsa = z.object({ kty: z.literal('RSA'), ...common, n: base64url(1_400), e: base64url(8) });
const ec = z.object({
  kty: z.literal('EC'),
  ...common,
  crv: z.enum(['P-256', 'P-384']),
  x: base64url(100),
  y: base64url(100),
});

/** A public key, without members that the service doesn't use, such as certificates. */
export type PublicJwk = z.infer<typeof rsa> | z.infer<typeof ec>;

/** Returns why a key can't be used, as the rest of a sentence; undefined if it can. */
function keyFault(key: PublicJwk): string | undefined {
  try {
    const { modulusLength } = createPublicKey({ key, format: 'jwk' }).asymmetricKeyDetails ?? {};
    if (modulusLength === undefined) return undefined;
    return modulusLength < RSA_BITS.least || modulusLength > RSA_BITS.most
      ? `must have ${RSA_BITS.least} to ${RSA_BITS.most} bits`
      : undefined;
  } catch {
    return 'must be a valid key';
  }
}

const publicJwk = z
  .looseObject({ kty: z.string() })
  .refine((key) => !SECRET.some((name) => Object.hasOwn(key, name)), {
    error: 'must be a public key; replace it, because its private part was sent',
    abort: true,
  })
  .pipe(z.discriminatedUnion('kty', [rsa, ec]))
  .superRefine((key, context) => {
    const message = keyFault(key);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/**
 * A key set as an application registers it: 1 to 20 public RSA or EC keys; if there is more than one key, each must have a
 * `kid`.
 */
export const keySetSchema = z
  .object({ keys: z.array(publicJwk).min(1).max(MOST_KEYS) })
  .superRefine(({ keys }, context) => {
    const ids = keys.map(({ kid }) => kid);
    if (keys.length > 1 && (ids.includes(undefined) || new Set(ids).size < ids.length))
      context.addIssue({ code: 'custom', path: ['keys'], message: 'must have a different kid each' });
  });

export interface PublicKeySet {
  readonly keys: readonly PublicJwk[];
}

/**
 * Returns the usable keys from a set that was fetched from a client's `jwks_uri`. Other keys are skipped, because such sets
 * may contain keys for other purposes.
 * @throws TypeError for anything other than a key set
 */
export function usableKeys(fetched: unknown): PublicKeySet {
  const parsed = z.object({ keys: z.array(z.unknown()).max(200) }).safeParse(fetched);
  if (!parsed.success) throw new TypeError('not a JSON Web Key Set with at most 200 keys');
  const keys = parsed.data.keys.flatMap((key) => {
    const one = publicJwk.safeParse(key);
    return one.success ? [one.data] : [];
  });
  return { keys: keys.slice(0, MOST_KEYS) };
}
