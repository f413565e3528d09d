/**
 * Sends responses at the reader's speed. A connection whose reader accepts nothing for half a minute is
 * closed, and the rest of the response is discarded.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** How long a reader may accept nothing although data is ready, in ms. */
const STALLED_MS = 30_000;

/** How often it is checked in that time. */
const LOOKS = 6;

/** Looks in a row at which nothing had left, by answer, and when the last one was. */
const quiet = new WeakMap<ServerResponse, { looks: number; at: number }>();

/**
 * Closes the connection when no bytes leave it for `ms`, give or take a sixth. Node counts bytes that the
 * system accepts as activity, and stops the time-out when the response has been sent. Bytes sent shortly
 * before the time-out was set count once more, which would double a single time-out; so it waits for several
 * short ones in a row. Activity restarts the count.
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
 * Sends text while it is produced, each piece when the one before has left. It stops when the reader
 * disconnects. If producing the text fails, it closes the connection, so that no client mistakes a part for
 * the whole.
 * @throws errors of producing the text
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
