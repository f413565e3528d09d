/** A receiver of webhook deliveries: a real HTTP server that answers as a test specifies. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { eventually } from './process.ts';

/** A received request. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The raw body. */
  readonly body: Buffer;
  /** The value of `performance.now()` when the last byte arrived. */
  readonly at: number;
}

/** A running receiver. */
export interface Receiver {
  /** `http://localhost:<port>` */
  readonly url: string;
  readonly received: readonly Received[];
  /** Sets how requests to a path are answered from now on; the default is 204. */
  answer(path: string, respond: (response: ServerResponse, received: Received) => void): void;
  /** Waits until there have been `count` requests to a path, and returns them. */
  of(path: string, count: number, timeoutMs?: number): Promise<Received[]>;
  stop(): Promise<void>;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers = new Map<string, (response: ServerResponse, received: Received) => void>();
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('error', () => undefined);
    request.on('end', () => {
      const path = request.url ?? '';
      const one = { path, headers: request.headers, body: Buffer.concat(parts), at: performance.now() };
      received.push(one);
      const respond = answers.get(path);
      if (respond === undefined) response.writeHead(204).end();
      else respond(response, one);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the receiver has no port');
  const of = (path: string): Received[] => received.filter((one) => one.path === path);
  return {
    url: `http://localhost:${address.port}`,
    received,
    answer: (path, respond) => void answers.set(path, respond),
    async of(path, count, timeoutMs) {
      await eventually(async () => of(path).length >= count, timeoutMs);
      return of(path);
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close').catch(() => undefined);
    },
  };
}
