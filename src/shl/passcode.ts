/**
 * Hashes passcodes for shared links, so that only a slow hash is stored (OWASP Password Storage Cheat Sheet: scrypt, N=2^14,
 * r=8, p=5).
 */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

/** A stored passcode. */
export interface HashedPasscode {
  /** 16 bytes. */
  readonly salt: Buffer;
  /** 32 bytes. */
  readonly hash: Buffer;
}

/** Hashes a passcode with a new salt. */
export async function hashPasscode(passcode: string): Promise<HashedPasscode> {
  const salt = randomBytes(16);
  return { salt, hash: await derived(passcode, salt) };
}

/** Returns whether a passcode is the one that was hashed. */
export async function isPasscode(passcode: string, { salt, hash }: HashedPasscode): Promise<boolean> {
  return timingSafeEqual(await derived(passcode, salt), hash);
}

/** Normalized, because the same characters are the same passcode, regardless of how a keyboard composes them. */
function derived(passcode: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(passcode.normalize('NFKC'), salt, 32, { N: 2 ** 14, r: 8, p: 5 }, (error, bytes) =>
      error === null ? resolve(bytes) : reject(error),
    );
  });
}
