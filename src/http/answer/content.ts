/** Sends bytes while they are read from storage, so that memory use doesn't grow with their size. */
import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import type { Answer, Content } from './answer.ts';
import { endWhenStalled, requireHead } from './send.ts';

/**
 * Sends content. It stops sending when the client disconnects. If the source fails, it closes the connection, so that the
 * client doesn't mistake partial content for the whole.
 * @param onFailure called if the source fails
 * @throws errors of `content.open`; in that case nothing has been sent
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

/** Returns whether an error means that the client has disconnected. */
function isClosed(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
