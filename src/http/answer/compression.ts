/**
 * Compresses responses (RFC 9110, section 8.4): JSON and our pages' files, from 2 kB. It never compresses documents, ranges,
 * pages, responses that contain secrets, or responses to requests with a cookie: if a response contains both a secret and text
 * that an attacker chose, its compressed length could reveal the secret (https://www.breachattack.com/).
 */
import type { IncomingMessage } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  type BrotliOptions,
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  type ZlibOptions,
} from 'node:zlib';
import type { Context } from 'koa';

/** A content coding that we produce. */
export type Coding = 'gzip' | 'br';

/** The size from which compression saves time, in bytes. */
export const COMPRESSED_FROM = 2_000;

/** Maximum size of a body that is compressed in one piece, in bytes. */
const WHOLE = 500_000;

const GZIP: ZlibOptions = { level: 1 };
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzipped = promisify<string | Buffer, ZlibOptions, Buffer>(gzip);
const brotlied = promisify<string | Buffer, BrotliOptions, Buffer>(brotliCompress);

/** Media types that may be compressed: JSON, and our pages' scripts and styles. */
export const COMPRESSIBLE = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:javascript|css))(?:;|$)/;

/** Returns whether a response of the given media type is compressed for this request. */
export function isCompressible(type: string | undefined, { headers }: IncomingMessage): boolean {
  return type !== undefined && headers.cookie === undefined && COMPRESSIBLE.test(type);
}

/** Codings by header value. Only a few different values occur. */
const known = new Map<string, Coding | undefined>();
const MAX_KNOWN = 100;

/** Returns the client's preferred coding; undefined if there isn't one. */
export function codingFor(ctx: Context): Coding | undefined {
  const accepted = ctx.req.headers['accept-encoding'];
  if (typeof accepted !== 'string') return undefined;
  const before = known.get(accepted);
  if (before !== undefined || known.has(accepted)) return before;
  const chosen = ctx.acceptsEncodings('gzip', 'br', 'identity');
  const coding = chosen === 'gzip' || chosen === 'br' ? chosen : undefined;
  if (known.size < MAX_KNOWN && accepted.length < 200) known.set(accepted, coding);
  return coding;
}

/** Compresses a body outside the event loop. */
export function compressed(body: string | Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'gzip' ? gzipped(body, GZIP) : brotlied(body, BROTLI);
}

/** Returns whether a body is long enough to be compressed while it is being sent. */
export function isCompressedInParts(body: string | Buffer): boolean {
  return body.length > WHOLE;
}

/** Compresses text at the speed at which it is read. An error in the source ends the stream. */
export function compressedStream(
  text: AsyncIterable<string | Buffer> | Iterable<Buffer>,
  coding: Coding,
): AsyncIterable<Buffer> {
  const coder = coding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI);
  // An error also destroys the compressor, so the reader gets the error.
  pipeline(Readable.from(text, { objectMode: false }), coder, () => undefined);
  return coder;
}

/** Yields a long body piece by piece. */
export function* inParts(body: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < body.length; at += PART) yield body.subarray(at, at + PART);
}

const PART = 256 * 1024;
