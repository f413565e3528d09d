/**
 * Sending answers as fast as they are taken, and no longer than that: a connection whose reader takes nothing for half a
 * minute is ended, and what it would have read is let go.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** How long a reader may take nothing of what is ready for it, in ms. */
const STALLED_MS = 30_000;

/** How often in that time it is looked. */
const LOOKS = 6;

/** Looks in a row at which nothing had left, by answer, and when the last one was. */
const quiet = new WeakMap<ServerResponse, { looks: number; at: number }>();

/**
 * Ends the connection when nothing leaves it for `ms`, give or take a sixth. Node counts bytes that the system takes as
 * activity, and ends the wait when the answer has left. What left shortly before the time was set counts once more, which
 * would double a single time: so several short ones in a row are waited for. A time with activity in it ends late.
 * https://nodejs.org/docs/latest-v20.x/api/net.html#socketsettimeouttimeout-callback
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

/** Sends the last of an answer. */
export function sendEnd(res: ServerResponse, body: string | Buffer, ms = STALLED_MS): void {
  res.end(body);
  if (res.writableLength > 0) endWhenStalled(res, ms);
}

/**
 * Sends text as it is made, a piece when the one before has left. A reader that goes away ends it; when the text cannot be
 * made to its end the connection is, so that nobody takes a part for the whole.
 * @throws what the text's maker throws
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

/** Waits until what was written has left, or the connection is closed. */
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
    // While the next piece is read nothing leaves, for reasons that are not the reader's.
    socket.setTimeout(0);
  }
}
