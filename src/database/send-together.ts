/** Statements that leave together over a pipelining connection. */
import type { Socket } from 'node:net';

/**
 * Sends everything that `start` writes in one packet, so that the server wakes up once.
 * @param socket undefined: no buffering
 */
export function sendTogether<T>(socket: Socket | undefined, start: () => T): T {
  socket?.cork();
  try {
    return start();
  } finally {
    socket?.uncork();
  }
}
