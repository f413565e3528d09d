/** Where a secret that an answer shows once comes from. */
import { randomBytes } from 'node:crypto';
import type { RequestContext } from './command.ts';

/** 256 bits of a CSPRNG; under an Idempotency-Key the same for every attempt. One for a request: it has one secret. */
export function secretOf({ retry }: RequestContext): Promise<Buffer> {
  return retry === undefined ? Promise.resolve(randomBytes(32)) : retry.secret();
}
