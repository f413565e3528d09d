/**
 * Compressed answers (RFC 9110, section 8.4): JSON and the files of our pages, from 2 kB on. Never documents, which are what
 * they are, ranges, pages, answers with secrets, or answers to a cookie: what stands beside a secret could be used to guess
 * it by the answer's length (https://www.breachattack.com/).
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

/** From how many bytes on it is worth the while. */
export const COMPRESSED_FROM = 2_000;

/** Up to how many bytes a body is compressed in one piece. */
const WHOLE = 500_000;

const GZIP: ZlibOptions = { level: 1 };
const BROTLI: BrotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const gzipped = promisify<string | Buffer, ZlibOptions, Buffer>(gzip);
const brotlied = promisify<string | Buffer, BrotliOptions, Buffer>(brotliCompress);

/** Media types of JSON, and of the scripts and styles of our pages. */
const COMPRESSIBLE = /^(?:application\/(?:[\w.-]+\+)?json|text\/(?:javascript|css))(?:;|$)/;

/** Whether answers of a media type are compressed, and to this request. */
export function isCompressible(type: string | undefined, { headers }: IncomingMessage): boolean {
  return type !== undefined && headers.cookie === undefined && COMPRESSIBLE.test(type);
}

/** What clients accept, by how they say it: few do it in different ways. */
const known = new Map<string, Coding | undefined>();
const MAX_KNOWN = 100;

/** The coding that a client would rather have than none. */
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

/** A body in a coding, made beside the event loop. */
export function compressed(body: string | Buffer, coding: Coding): Promise<Buffer> {
  return coding === 'gzip' ? gzipped(body, GZIP) : brotlied(body, BROTLI);
}

/** Whether a body is so long that it is compressed while it is sent. */
export function isCompressedInParts(body: string | Buffer): boolean {
  return body.length > WHOLE;
}

/** Text in a coding, made as fast as it is read. What the text's maker throws ends it. */
export function compressedStream(
  text: AsyncIterable<string | Buffer> | Iterable<Buffer>,
  coding: Coding,
): AsyncIterable<Buffer> {
  const coder = coding === 'gzip' ? createGzip(GZIP) : createBrotliCompress(BROTLI);
  // What fails on the way destroys the coder with it, and so reaches whoever reads that.
  pipeline(Readable.from(text, { objectMode: false }), coder, () => undefined);
  return coder;
}

/** A long body as a stream of parts. */
export function* inParts(body: Buffer): Generator<Buffer, undefined> {
  for (let at = 0; at < body.length; at += PART) yield body.subarray(at, at + PART);
}

const PART = 256 * 1024;
