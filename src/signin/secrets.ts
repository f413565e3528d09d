/** Secrets of browsers: created here, kept in a cookie by the browser, and stored as a hash. */
import { createHash, createHmac, randomBytes } from 'node:crypto';

/** Matches a secret: 256 bits, base64url. */
const SECRET = /^[\w-]{43}$/;

/** Returns a new secret with 256 bits from a CSPRNG. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns whether a text has the form of a secret. */
export function isSecret(text: string | null | undefined): text is string {
  return typeof text === 'string' && SECRET.test(text);
}

/** Returns a secret's SHA-256, which is stored instead of the secret. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/**
 * Returns a value for one purpose that only the holder of a secret can know: HMAC-SHA-256, base64url, 43 characters. The value
 * can be derived again, so the database doesn't need a copy.
 */
export function derived(secret: string, purpose: string): string {
  return createHmac('sha256', secret).update(purpose).digest('base64url');
}
