/**
 * Encrypts secrets at rest with AES-256-GCM (NIST SP 800-38D) and a key of the installation. Each encrypted secret is bound to
 * the object to which it belongs.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
/** Length of a nonce, in bytes; random nonces are sufficient for far more secrets than an installation has. */
const NONCE = 12;
const TAG = 16;

/**
 * Encrypts a secret.
 * @param key 32 bytes
 * @param of id of the object to which the secret belongs; decryption requires the same id
 * @returns nonce, ciphertext and tag, base64url
 */
export function seal(key: Buffer, secret: string, of: string): string {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG }).setAAD(Buffer.from(of));
  return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  );
}

/**
 * Decrypts a secret.
 * @throws Error if the key or id is different, or if the text was changed
 */
export function unseal(key: Buffer, sealed: string, of: string): string {
  const bytes = Buffer.from(sealed, 'base64url');
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(of)).setAuthTag(bytes.subarray(-TAG));
  return Buffer.concat([decipher.update(bytes.subarray(NONCE, -TAG)), decipher.final()]).toString('utf8');
}
