/** `Service-Signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">` (docs/spec/interface.md, section 6). */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Largest difference between `t` and the receiver's clock, in seconds. */
export const TOLERANCE_SECONDS = 300;

/** Signs a body. @param secret the whole `whsec_…`: it is the key. @param seconds unix time */
export function sign(secret: string, body: string | Buffer, seconds: number): string {
  return `t=${seconds},v1=${mac(secret, seconds, body).toString('hex')}`;
}

/** Tells whether a delivery is genuine and recent. Receivers do the same. */
export function verify(
  secret: string,
  body: string | Buffer,
  signature: string,
  nowSeconds = Date.now() / 1000,
): boolean {
  const [, t = '', v1 = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (t === '' || Math.abs(nowSeconds - Number(t)) > TOLERANCE_SECONDS) return false;
  return timingSafeEqual(mac(secret, Number(t), body), Buffer.from(v1, 'hex'));
}

function mac(secret: string, seconds: number, body: string | Buffer): Buffer {
  return createHmac('sha256', secret).update(`${seconds}.`).update(body).digest();
}
