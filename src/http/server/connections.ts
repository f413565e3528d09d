/** Limits the number of open connections per client address. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { newRequestId } from '#src/shared/ids.ts';
import { clientAddress, trustedProxies } from '../limits.ts';

/**
 * Answers connections beyond the limit with 429 and closes them.
 * @param most maximum number of connections from one address, or from one 64-bit IPv6 network; 0: no limit.
 * @param trusted addresses and networks of proxies, which have no limit because they carry many clients' connections.
 */
export function limitConnections(server: Server, most: number, trusted: readonly string[]): void {
  if (most === 0) return;
  const isProxy = trustedProxies(trusted);
  const addressOf = clientAddress([]);
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || isProxy(remoteAddress)) return;
    const address = addressOf(remoteAddress, undefined);
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > most) refuse(socket, most);
  });
}

function refuse(socket: Socket, most: number): void {
  const body = `{"error":{"type":"throttled","message":"this client address has ${most} open connections, the limit; reuse connections or close some"}}`;
  const head = [
    'HTTP/1.1 429 Too Many Requests',
    `Service-Request-Id: ${newRequestId()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Retry-After: 1',
    'Connection: close',
  ];
  socket.on('error', () => undefined);
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
}
