/** Where a secret that an answer shows once comes from. */
import { randomBytes } from 'node:crypto';
import type { Circumstances } from './aggregate.ts';

/** 256 bits of a CSPRNG; under an Idempotency-Key the same for every attempt. One for a request: it has one secret. */
export function secretOf({ retry }: Circumstances): Promise<Buffer> {
  return retry === undefined ? Promise.resolve(randomBytes(32)) : retry.secret();
}
