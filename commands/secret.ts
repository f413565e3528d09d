/** Generates secrets that a response shows only once. */
import { randomBytes } from 'node:crypto';
import type { RequestContext } from './command.ts';

/**
 * Returns 256 bits from a CSPRNG; with an Idempotency-Key, every attempt gets the same bits. A request can have only one
 * secret.
 */
export function drawSecret({ retry }: RequestContext): Promise<Buffer> {
  return retry === undefined ? Promise.resolve(randomBytes(32)) : retry.secret();
}
