/** A minimal Koa server with one route, in a separate process. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';

/**
 * Serves one handler on a free port of this machine.
 * @returns the port
 */
export async function serveRoute(handler: Koa.Middleware): Promise<number> {
  const app = new Koa();
  app.use(handler);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return port;
}
