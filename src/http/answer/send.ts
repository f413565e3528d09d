/**
 * Sends responses at the reader's speed: unchanged, compressed, or while they are being produced. Headers are collected and
 * written in one call, which costs Node half as much as one call per header. If the reader accepts no data for half a minute,
 * the connection is closed and the rest of the response is discarded.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { Answer } from './answer.ts';
import {
  COMPRESSED_FROM,
  codingFor,
  compressed,
  compressedStream,
  inParts,
  isCompressedInParts,
  isCompressible,
} from './compression.ts';

/** Collects headers, as alternating names and values. A given header must always be spelled the same way. */
export class Head {
  readonly #fields: string[];

  /** @param fields the initial headers, without duplicates. */
  constructor(fields: readonly string[]) {
    this.#fields = fields.slice();
  }

  /** Sets a header, replacing any header of the same name. */
  set(name: string, value: string): void {
    put(this.#fields, name, value);
  }

  /** Removes headers. */
  remove(...names: readonly string[]): void {
    for (let at = this.#fields.length - 2; at >= 0; at -= 2)
      if (names.includes(this.#fields[at] ?? '')) this.#fields.splice(at, 2);
  }

  /**
   * Writes the status line and all headers, in addition to headers already set on the response.
   * @param headers headers of this response only; they replace others of the same name.
   * @param length of the response's body in bytes; undefined without a body.
   * @throws Node's TypeError for an invalid header value; in that case nothing is written.
   */
  write(
    res: ServerResponse,
    status: number,
    headers: Readonly<Record<string, string>>,
    length: number | undefined,
  ): void {
    const fields = this.#fields.slice();
    for (const name in headers) put(fields, name, headers[name] ?? '');
    if (length !== undefined) fields.push('Content-Length', String(length));
    res.writeHead(status, fields);
  }

  /** Sets all headers on the response. */
  settle(res: ServerResponse): void {
    const fields = this.#fields;
    for (let at = 0; at < fields.length; at += 2) res.setHeader(fields[at] ?? '', fields[at + 1] ?? '');
  }
}

function put(fields: string[], name: string, value: string): void {
  for (let at = 0; at < fields.length; at += 2) {
    if (fields[at] !== name) continue;
    fields[at + 1] = value;
    return;
  }
  fields.push(name, value);
}

/**
 * Returns the head of the response to a request.
 * @throws Error if the response has no head yet
 */
export function requireHead({ state }: { readonly state: { head?: Head } }): Head {
  if (state.head === undefined) throw new Error('the answer has no head yet');
  return state.head;
}

/** How long a reader may accept no data while data is ready, in ms. */
const STALLED_MS = 30_000;

/** Number of checks during that time. */
const LOOKS = 6;

/** Response → the number of consecutive checks at which nothing had been sent, and the time of the last check. */
const quiet = new WeakMap<ServerResponse, { looks: number; at: number }>();

/**
 * Closes the connection when no bytes leave it for `ms`, give or take a sixth. For Node, bytes that the operating system
 * accepts are activity; the timeout stops when the response has been sent. Bytes sent shortly before the timeout was set are
 * counted again, which would double a single long timeout; so this function waits for several short timeouts in a row, and
 * activity restarts the count. https://nodejs.org/docs/latest-v20.x/api/net.html#socketsettimeouttimeout-callback
 */
export function endWhenStalled(res: ServerResponse, ms = STALLED_MS): void {
  const { socket } = res;
  if (socket === null) return;
  const gap = ms / LOOKS;
  if (!quiet.has(res)) {
    res.on('timeout', () => {
      const now = performance.now();
      const before = quiet.get(res) ?? { looks: 0, at: now };
      const looks = now - before.at < 1.5 * gap ? before.looks + 1 : 1;
      quiet.set(res, { looks, at: now });
      if (looks >= LOOKS) res.destroy();
      else res.socket?.setTimeout(gap);
    });
  }
  quiet.set(res, { looks: 0, at: performance.now() });
  socket.setTimeout(gap);
}

/** Sends the last part of a response. */
export function sendEnd(res: ServerResponse, body: string | Buffer, ms = STALLED_MS): void {
  res.end(body);
  if (res.writableLength > 0) endWhenStalled(res, ms);
}

/**
 * Sends text while it is being produced; each piece is sent once the previous one has left. It stops when the reader
 * disconnects. If producing the text fails, it closes the connection, so that clients don't mistake partial text for the
 * whole.
 * @throws errors of the code that produces the text
 */
export async function sendStream(
  res: ServerResponse,
  stream: AsyncIterable<string | Buffer>,
  ms = STALLED_MS,
): Promise<void> {
  try {
    for await (const piece of stream) {
      if (res.closed) return;
      if (!res.write(piece)) await drained(res, ms);
    }
    sendEnd(res, '', ms);
  } catch (error) {
    res.destroy();
    throw error;
  }
}

/** Waits until the written data has been sent, or the connection is closed. */
async function drained(res: ServerResponse, ms: number): Promise<void> {
  const { socket } = res;
  if (res.closed || socket === null) return;
  endWhenStalled(res, ms);
  const waiting = new AbortController();
  const { signal } = waiting;
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  } finally {
    waiting.abort();
    // Nothing is sent while the next piece is being produced, and the client must not be cut off for that.
    socket.setTimeout(0);
  }
}

/** The number of characters from which a body is treated as long. */
const LONG = 16_000;

/**
 * Sends a response: unchanged; compressed, if the client accepts that; or piece by piece while it is being produced.
 * @throws errors of the code that produces the response
 */
export function send(ctx: Context, answer: Answer): void | Promise<void> {
  const { body, stream, headers } = answer;
  if (stream === undefined && (body === undefined || body.length < COMPRESSED_FROM))
    return reply(ctx, answer);
  if (answer.plain === true || !isCompressible(headers['Content-Type'], ctx.req))
    return stream === undefined ? reply(ctx, answer) : replyStream(ctx, answer, stream);
  const coding = codingFor(ctx);
  const varied = { ...answer, headers: { ...headers, Vary: 'Accept-Encoding' } };
  if (coding === undefined)
    return stream === undefined ? reply(ctx, varied) : replyStream(ctx, varied, stream);
  const coded = { ...varied, headers: { ...varied.headers, 'Content-Encoding': coding } };
  if (ctx.method === 'HEAD') return replyHead(ctx, coded);
  if (stream !== undefined) return replyStream(ctx, coded, compressedStream(stream, coding));
  if (body === undefined) return reply(ctx, varied);
  if (isCompressedInParts(body))
    return replyStream(ctx, coded, compressedStream(inParts(Buffer.from(body)), coding));
  return compressed(body, coding).then((bytes) => reply(ctx, { ...coded, body: bytes }));
}

/**
 * Sends a response while it is being produced.
 * @throws errors of the code that produces the response
 */
function replyStream(
  ctx: Context,
  { status, headers }: Answer,
  stream: AsyncIterable<string | Buffer>,
): void | Promise<void> {
  if (ctx.method === 'HEAD') return replyHead(ctx, { status, headers });
  ctx.respond = false;
  requireHead(ctx).write(ctx.res, status, headers, undefined);
  return sendStream(ctx.res, stream);
}

/** Sends only headers. Producing the body just to find out its length would not be worthwhile (RFC 9110, section 9.3.2). */
function replyHead(ctx: Context, { status, headers }: Answer): void {
  ctx.respond = false;
  requireHead(ctx).write(ctx.res, status, headers, undefined);
  ctx.res.end();
}

/** Sends a response without Koa's own final step, which would inspect the body again to find its type. */
export function reply(ctx: Context, { status, headers, body }: Answer): void {
  const { req, res } = ctx;
  ctx.respond = false;
  // Long text is encoded once; short text is sent together with the headers in one write.
  const sent = typeof body === 'string' && body.length > LONG ? Buffer.from(body) : (body ?? '');
  const length = status === 204 || status === 304 ? undefined : Buffer.byteLength(sent);
  requireHead(ctx).write(res, status, headers, length);
  if (body === undefined || req.method === 'HEAD') res.end();
  else sendEnd(res, sent);
}
