/** Statements that leave together over a pipelining connection. */
import type { Socket } from 'node:net';

/** What `start` sends leaves in one piece: the server wakes up once for all of it. @param socket undefined: as it comes */
export function sendTogether<T>(socket: Socket | undefined, start: () => T): T {
  socket?.cork();
  try {
    return start();
  } finally {
    socket?.uncork();
  }
}
