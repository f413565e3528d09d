/** Answers on their way out: as they are, compressed, or while they are made. */
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
import { headOf } from './head.ts';
import { sendEnd, sendStream } from './send.ts';

/** The number of characters from which a body is long. */
const LONG = 16_000;

/**
 * Sends a response: unchanged; compressed, if the client accepts that; or piece by piece while it is
 * produced.
 * @throws errors of producing it
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

/** Sends what is made while it is sent. @throws what making it throws */
function replyStream(
  ctx: Context,
  { status, headers }: Answer,
  stream: AsyncIterable<string | Buffer>,
): void | Promise<void> {
  if (ctx.method === 'HEAD') return replyHead(ctx, { status, headers });
  ctx.respond = false;
  headOf(ctx).write(ctx.res, status, headers, undefined);
  return sendStream(ctx.res, stream);
}

/** Sends headers alone: how long the body would be is not worth making it (RFC 9110, section 9.3.2). */
function replyHead(ctx: Context, { status, headers }: Answer): void {
  ctx.respond = false;
  headOf(ctx).write(ctx.res, status, headers, undefined);
  ctx.res.end();
}

/** Sends a response without Koa's own ending, which would inspect the body again to find its type. */
export function reply(ctx: Context, { status, headers, body }: Answer): void {
  const { req, res } = ctx;
  ctx.respond = false;
  // A long text is encoded once; a short one goes with the headers in one write.
  const sent = typeof body === 'string' && body.length > LONG ? Buffer.from(body) : (body ?? '');
  const length = status === 204 || status === 304 ? undefined : Buffer.byteLength(sent);
  headOf(ctx).write(res, status, headers, length);
  if (body === undefined || req.method === 'HEAD') res.end();
  else sendEnd(res, sent);
}
