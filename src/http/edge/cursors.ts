/** Encrypts cursors under a grant, because they contain ids (docs/spec/decisions.md, section 1). */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto';

/** Sizes of the AES-256-GCM nonce and tag, in bytes. */
const [NONCE, TAG] = [12, 16];

/** Text that no list accepts as a cursor. */
const INVALID = '!';

/** Keys for cursors, 32 bytes each. */
export interface CursorKeys {
  readonly encryption: Buffer;
  /** Derives nonces, so that the same page always has the same link. */
  readonly nonce: Buffer;
}

/**
 * Returns a cursor encrypted for a grant.
 * @param cursor from `encodeCursor`: URL-safe base64
 */
export function sealCursor({ encryption, nonce }: CursorKeys, grantId: string, cursor: string): string {
  const plain = Buffer.from(cursor, 'base64url');
  const iv = createHmac('sha256', nonce).update(`${grantId}\n`).update(plain).digest().subarray(0, NONCE);
  const cipher = createCipheriv('aes-256-gcm', encryption, iv).setAAD(Buffer.from(grantId));
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Decrypts a cursor from `sealCursor`; for any other text, returns text that no list accepts as a cursor. */
export function openCursor({ encryption }: CursorKeys, grantId: string, text: string): string {
  const sealed = Buffer.from(text, 'base64url');
  if (sealed.length <= NONCE + TAG || sealed.toString('base64url') !== text) return INVALID;
  const decipher = createDecipheriv('aes-256-gcm', encryption, sealed.subarray(0, NONCE))
    .setAAD(Buffer.from(grantId))
    .setAuthTag(sealed.subarray(NONCE, NONCE + TAG));
  try {
    const plain = Buffer.concat([decipher.update(sealed.subarray(NONCE + TAG)), decipher.final()]);
    return plain.toString('base64url');
  } catch {
    return INVALID;
  }
}
