/** Stops the HTTP server once it has answered all requests. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { findAnswer } from './node-answers.ts';

/** How often connections are checked, in ms. */
const LOOK_MS = 20;

/** How long a client may take to finish the head of a request, in ms. */
const HEAD_MS = 1_000;

const sockets = new WeakMap<Server, Set<Socket>>();

/** Records a server's open connections for `drain`. */
export function trackConnections(server: Server): void {
  const open = new Set<Socket>();
  sockets.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/**
 * Stops listening, and resolves when every request has been answered. Connections are closed when they become idle. Before its
 * first request, Node doesn't treat a connection as idle, and after `server.close()` it no longer ends such a connection;
 * browsers and load balancers open them in advance. So these connections are closed here.
 */
export async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const begun = performance.now();
  const closing = setInterval(() => {
    server.closeIdleConnections();
    const isLate = performance.now() - begun > HEAD_MS;
    for (const socket of sockets.get(server) ?? [])
      if (findAnswer(socket) === undefined && (isLate || socket.bytesRead === 0)) socket.destroy();
  }, LOOK_MS);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closing);
}
