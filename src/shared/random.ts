/** Random bits in small portions: drawn from the system for many at a time, since each draw costs microseconds. */
import { randomFillSync } from 'node:crypto';

const SIZE = 16;
const drawn = Buffer.allocUnsafeSlow(SIZE * 256);
let next = drawn.length;

/** 128 random bits of a CSPRNG. The bytes are the caller's for this turn: copy or encode them at once. */
export function random128(): Buffer {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  next += SIZE;
  return drawn.subarray(next - SIZE, next);
}
