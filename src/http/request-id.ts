/** `Service-Request-Id`: 128 random bits, drawn many at a time, since every response has one. */
import { randomFillSync } from 'node:crypto';

const SIZE = 16;
const drawn = Buffer.alloc(SIZE * 256);
let next = drawn.length;

/** A new request id, `req_` and 22 URL-safe characters. */
export function newRequestId(): string {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  next += SIZE;
  return `req_${drawn.toString('base64url', next - SIZE, next)}`;
}
