/**
 * Signs deliveries in two ways: with the contract's `Service-Signature` (docs/spec/interface.md, section 6), and with the
 * signatures of Standard Webhooks (https://www.standardwebhooks.com, specification 1.0.0), which can be verified with the
 * libraries of Standard Webhooks and Svix.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The maximum difference between `t` and the receiver's clock, in seconds. */
export const TOLERANCE_SECONDS = 300;

/** Matches secrets in this form. Older secrets contain base64url and are used only for the contract's own signature. */
const STANDARD_SECRET = /^whsec_([A-Za-z0-9+/]{43}=)$/;

/**
 * Signs a body for `Service-Signature`: `t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<raw body>">`.
 * @param secret the whole `whsec_…`, which is the key
 * @param seconds unix time
 */
export function sign(secret: string, body: string | Buffer, seconds: number): string {
  return `t=${seconds},v1=${mac(secret, `${seconds}.`, body).toString('hex')}`;
}

/**
 * Signs a body for `webhook-signature`: `v1,<base64 HMAC-SHA256 of "<id>.<unix seconds>.<raw body>">`. The key is the bytes
 * that the secret encodes.
 * @returns undefined if the secret isn't standard base64 of 32 bytes
 */
export function signStandard(
  secret: string,
  id: string,
  body: string | Buffer,
  seconds: number,
): string | undefined {
  const [, key] = STANDARD_SECRET.exec(secret) ?? [];
  if (key === undefined) return undefined;
  return `v1,${mac(Buffer.from(key, 'base64'), `${id}.${seconds}.`, body).toString('base64')}`;
}

/** Returns whether a delivery is genuine and recent. Receivers make the same check. */
export function verify(
  secret: string,
  body: string | Buffer,
  signature: string,
  nowSeconds = Date.now() / 1000,
): boolean {
  const [, t = '', v1 = ''] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (t === '' || Math.abs(nowSeconds - Number(t)) > TOLERANCE_SECONDS) return false;
  return timingSafeEqual(mac(secret, `${Number(t)}.`, body), Buffer.from(v1, 'hex'));
}

function mac(key: string | Buffer, before: string, body: string | Buffer): Buffer {
  return createHmac('sha256', key).update(before).update(body).digest();
}
