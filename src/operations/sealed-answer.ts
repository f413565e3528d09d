/**
 * Encrypts stored answers with a key that only the caller can provide. The key is derived from the Idempotency-Key and either
 * the credential or the credential's holder (`Sealing`).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { IdempotentRequest } from '#src/shared/idempotency.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** The values from which the key for an encrypted answer is derived. */
export interface Sealing {
  readonly key: IdempotentRequest['key'];
  /** Encrypts. */
  readonly secret: string;
  /** Also used for decryption: the credential with which an earlier version of Annal encrypted the answer. */
  readonly earlier?: string;
}

/**
 * Returns the secrets with which a request's answers are encrypted.
 * @param installationKey 32 bytes
 */
export function makeSealing(
  { key, credential, holder }: Pick<IdempotentRequest, 'key' | 'credential' | 'holder'>,
  installationKey: Buffer,
): Sealing {
  if (holder === undefined) return { key, secret: credential };
  const secret = createHmac('sha256', installationKey).update(holder).digest('base64url');
  return { key, secret, earlier: credential };
}

function contentKey({ key, secret: own }: Sealing, salt: Buffer): Buffer {
  const secret = `${key.length}\n${key}${own}`;
  return Buffer.from(hkdfSync('sha256', secret, salt, 'annal idempotency answer', 32));
}

/** Encrypts a text. The result is the salt (16 bytes), nonce (12), tag (16) and ciphertext (AES-256-GCM). */
export function seal(plain: string, sealing: Sealing): Buffer {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', contentKey(sealing, salt), nonce);
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), text]);
}

/**
 * Decrypts a result of `seal`.
 * @throws Refusal invalid (422) if it was sealed with a different credential
 */
export function unseal(sealed: Buffer, sealing: Sealing): string {
  const { key, secret, earlier } = sealing;
  const text =
    opened(sealed, { key, secret }) ??
    (earlier === undefined ? undefined : opened(sealed, { key, secret: earlier }));
  if (text === undefined) throw usedOtherwise('credential');
  return text;
}

function opened(sealed: Buffer, sealing: Sealing): string | undefined {
  const key = contentKey(sealing, sealed.subarray(0, 16));
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(16, 28));
  decipher.setAuthTag(sealed.subarray(28, 44));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(44)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Returns the refusal for a key that was used for something else. */
export function usedOtherwise(what: 'request' | 'credential'): Refusal {
  return new Refusal('invalid', {
    code: 'business-rule',
    diagnostics: `the Idempotency-Key was used with another ${what}`,
    expression: 'http.idempotency-key',
  });
}
