/** Files of the service itself: scripts, styles and descriptions. */
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import { COMPRESSED_FROM, COMPRESSIBLE, type Coding, codingFor, compressed } from './compression.ts';

/**
 * Sends a file that changes with the service's version only: 304 for cached copies, compressed once. It holds no secret, so
 * it is compressed for requests with a cookie, too.
 */
export async function sendStatic(ctx: Context, type: string, body: string | Buffer): Promise<void> {
  const sha256 = hash('sha256', body).slice(0, 32);
  ctx.set('Cache-Control', 'public, no-cache');
  // Weak, because it is the same for every content coding.
  ctx.set('ETag', `W/"${sha256}"`);
  const isLong = body.length >= COMPRESSED_FROM && COMPRESSIBLE.test(type);
  if (isLong) ctx.vary('Accept-Encoding');
  const known = ctx.get('If-None-Match').split(',');
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === `"${sha256}"`)) {
    ctx.status = 304;
    return;
  }
  const coding = isLong ? codingFor(ctx) : undefined;
  ctx.type = type;
  ctx.body = coding === undefined ? body : await inCoding(body, sha256, coding);
  if (coding !== undefined) ctx.set('Content-Encoding', coding);
}

const inCodings = new Map<string, Promise<Buffer>>();

/** Returns a file in a coding, compressed at the first request. */
function inCoding(body: string | Buffer, sha256: string, coding: Coding): Promise<Buffer> {
  const key = `${coding} ${sha256}`;
  const made = inCodings.get(key) ?? compressed(body, coding);
  inCodings.set(key, made);
  return made;
}
