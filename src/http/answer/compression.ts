/**
 * Compresses answers (RFC 9110, section 8.4): JSON and files of our pages, from 2 kB. Documents, ranges, pages, answers
 * with secrets and answers to a cookie are never compressed: the length of an answer could reveal a secret beside
 * chosen text (https://www.breachattack.com/).
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

/** A coding that we make. */
export type Coding = 'gzip' | 'br';

/** Size from which compression is worthwhile, in bytes. */
export const COMPRESSED_FROM = 2_000;

/** Up to how many bytes a body is compressed in one piece. */
const WHOLE = 500_000;

const GZIP: ZlibOptions = { level: 1 };
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzipped = promisify<string | Buffer, ZlibOptions, Buffer>(gzip);
const brotlied = promisify<string | Buffer, BrotliOptions, Buffer>(brotliCompress);

/** Media types of JSON, and of the scripts and styles of our pages. */
export const COMPRESSIBLE = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:javascript|css))(?:;|$)/;

/** Tells whether answers of a media type are compressed for this request. */
export function isCompressible(type: string | undefined, { headers }: IncomingMessage): boolean {
  return type !== undefined && headers.cookie === undefined && COMPRESSIBLE.test(type);
}

/** Codings by header value: few different values occur. */
const known = new Map<string, Coding | undefined>();
const MAX_KNOWN = 100;

/** Returns the client's preferred coding; undefined for none. */
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

/** Tells whether a body is so long that it is compressed while it is sent. */
export function isCompressedInParts(body: string | Buffer): boolean {
  return body.length > WHOLE;
}

/** Compresses text as fast as it is read. Errors of the source end it. */
export function compressedStream(
  text: AsyncIterable<string | Buffer> | Iterable<Buffer>,
  coding: Coding,
): AsyncIterable<Buffer> {
  const coder = coding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI);
  // An error destroys the compressor too, and so reaches the reader.
  pipeline(Readable.from(text, { objectMode: false }), coder, () => undefined);
  return coder;
}

/** Yields a long body in parts. */
export function* inParts(body: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < body.length; at += PART) yield body.subarray(at, at + PART);
}

const PART = 256 * 1024;
