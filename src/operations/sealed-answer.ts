/** Kept answers, encrypted under a key that only the caller can bring: from the Idempotency-Key and the credential. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { IdempotentRequest } from '#src/shared/idempotency.ts';
import { Refusal } from '#src/shared/refusal.ts';

type Keyed = Pick<IdempotentRequest, 'key' | 'credential'>;

function contentKey(request: Keyed, salt: Buffer): Buffer {
  const secret = `${request.key.length}\n${request.key}${request.credential}`;
  return Buffer.from(hkdfSync('sha256', secret, salt, 'annal idempotency answer', 32));
}

/** Encrypts a text under a request's key and credential: salt (16 bytes), nonce (12), tag (16), ciphertext (AES-256-GCM). */
export function seal(plain: string, request: Keyed): Buffer {
  const salt = randomBytes(16);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', contentKey(request, salt), nonce);
  const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([salt, nonce, cipher.getAuthTag(), text]);
}

/** Decrypts what `seal` gave. @throws Refusal invalid (422) if it was sealed under another credential */
export function unseal(sealed: Buffer, request: Keyed): string {
  const key = contentKey(request, sealed.subarray(0, 16));
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(16, 28));
  decipher.setAuthTag(sealed.subarray(28, 44));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(44)), decipher.final()]).toString('utf8');
  } catch {
    throw usedOtherwise('credential');
  }
}

/** The refusal of a key that was used for something else. */
export function usedOtherwise(what: 'request' | 'credential'): Refusal {
  return new Refusal('invalid', {
    code: 'business-rule',
    diagnostics: `the Idempotency-Key was used with another ${what}`,
    expression: 'http.idempotency-key',
  });
}
