/** Ends the HTTP server when it has answered. */
import type { Server } from 'node:http';

/** Stops listening, and resolves when every request has been answered. Connections close as they fall idle. */
export async function drain(server: Server): Promise<void> {
  if (!server.listening) return;
  const closing = setInterval(() => server.closeIdleConnections(), 20);
  await new Promise((resolve) => server.close(resolve));
  clearInterval(closing);
}
