/** Signs the URLs to which a client may send a document's bytes without any other credential. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The right that a signature grants: one upload to a document, until a given time. */
export interface UploadRight {
  readonly document: string;
  /** Unix time, seconds. */
  readonly expires: number;
}

/**
 * Returns the signature, base64url (HMAC-SHA256).
 * @param key 32 bytes
 */
export function signUpload(key: Buffer, { document, expires }: UploadRight): string {
  return createHmac('sha256', key).update(`upload\n${document}\n${expires}`).digest('base64url');
}

/** Returns whether a signature grants the given right. */
export function isSigned(key: Buffer, right: UploadRight, signature: string): boolean {
  const expected = Buffer.from(signUpload(key, right));
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
