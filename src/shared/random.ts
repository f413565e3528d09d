/** Small portions of random bits, drawn from the system in bulk because each draw costs microseconds. */
import { randomFillSync } from 'node:crypto';

const SIZE = 16;
const drawn = Buffer.allocUnsafeSlow(SIZE * 256);
let next = drawn.length;

/** Returns 128 random bits of a CSPRNG. The buffer is reused in the next turn: copy or encode it at once. */
export function random128(): Buffer {
  if (next === drawn.length) {
    randomFillSync(drawn);
    next = 0;
  }
  next += SIZE;
  return drawn.subarray(next - SIZE, next);
}
