/** Stops the HTTP server once it has answered all requests. */
import type { Server } from 'node:http';

/** Stops listening, and resolves when every request has been answered. Connections are closed when they become idle. */
export async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closing);
}
