/** Secrets of browsers: drawn here, kept in a cookie, stored as a hash. */
import { createHash, createHmac, randomBytes } from 'node:crypto';

/** The form of a secret: 256 bits, base64url. */
const SECRET = /^[\w-]{43}$/;

/** Returns a new secret of 256 bits of a CSPRNG. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Tells whether a text has the form of a secret. */
export function isSecret(text: string | null | undefined): text is string {
  return typeof text === 'string' && SECRET.test(text);
}

/** Returns the SHA-256 of a secret, as it is stored. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/**
 * Returns a value that only the holder of a secret can know, for one purpose: HMAC-SHA-256, base64url, 43 characters.
 * So the database needs no copy of it.
 */
export function derived(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}
