/**
 * Creates codes and tokens. Each consists of 256 random bits, of which only the SHA-256 is stored (docs/spec/decisions.md,
 * section 1).
 */
import { hash, randomBytes } from 'node:crypto';

/** Prefixes for tokens; codes have none. */
export type TokenPrefix = 'at_' | 'rt_' | '';

/** Returns a new code or token: the prefix and 43 base64url characters. */
export function newSecret(prefix: TokenPrefix): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** Returns the hash under which a code or token is stored and found. */
export function sha256(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
