/** Serves files that belong to the service itself: scripts, styles and descriptions. */
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { Answer } from './answer.ts';
import { COMPRESSED_FROM, COMPRESSIBLE, type Coding, codingFor, compressed } from './compression.ts';

/**
 * Returns a file that changes only when the service's version does. It responds 304 to clients with a current copy, and
 * compresses the file once. The file contains no secret, so it is compressed even for requests with a cookie.
 */
export async function makeStaticFile(ctx: Context, type: string, body: string | Buffer): Promise<Answer> {
  const sha256 = hash('sha256', body).slice(0, 32);
  const isLong = body.length >= COMPRESSED_FROM && COMPRESSIBLE.test(type);
  const headers = {
    'Cache-Control': 'public, no-cache',
    // Weak, because the ETag is the same for every content coding.
    ETag: `W/"${sha256}"`,
    ...(isLong ? { Vary: 'Accept-Encoding' } : {}),
  };
  const known = ctx.get('If-None-Match').split(',');
  if (known.some((tag) => tag.trim().replace(/^W\//, '') === `"${sha256}"`)) return { status: 304, headers };
  const typed = { ...headers, 'Content-Type': type };
  const coding = isLong ? codingFor(ctx) : undefined;
  if (coding === undefined) return { status: 200, headers: typed, body, plain: true };
  const coded = { ...typed, 'Content-Encoding': coding };
  return { status: 200, headers: coded, body: await inCoding(body, sha256, coding), plain: true };
}

const inCodings = new Map<string, Promise<Buffer>>();

/** Returns a file in a content coding. The file is compressed at the first request. */
function inCoding(body: string | Buffer, sha256: string, coding: Coding): Promise<Buffer> {
  const key = `${coding} ${sha256}`;
  const made = inCodings.get(key) ?? compressed(body, coding);
  inCodings.set(key, made);
  return made;
}
