/** Answers of bytes, sent as they come from where they are kept: memory does not grow with them. */
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import type { Answer, Content } from './answer.ts';
import { endWhenStalled, requireHead } from './send.ts';

/**
 * Sends content. It ends when the client disconnects. If the source fails, the connection is closed, so that a part
 * isn't taken for the whole.
 * @param onFailure called if the source fails
 * @throws the errors of `content.open`; nothing has been sent then
 */
export async function sendContent(
  ctx: Context,
  { status, headers }: Answer,
  content: Content,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const { req, res } = ctx;
  const source = req.method === 'HEAD' ? undefined : await content.open();
  ctx.respond = false;
  requireHead(ctx).write(res, status, headers, content.length);
  if (source === undefined) res.end();
  else {
    endWhenStalled(res);
    await pipeline(source, res).catch((error: unknown) => {
      if (!isClosed(error)) onFailure(error);
    });
  }
}

/** Tells whether the client has disconnected. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
