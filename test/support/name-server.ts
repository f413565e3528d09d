/** A local name server that returns NXDOMAIN for all names, but doesn't answer queries for names that contain `silent`. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A running name server. */
export interface NameServer {
  /** `address:port`. */
  readonly at: string;
  /** Returns the number of queries for names that contain a text. */
  asked(text: string): number;
  stop(): void;
}

/** Starts a name server. */
export async function startNameServer(): Promise<NameServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (query, from) => {
    questions.push(query.toString('latin1'));
    if (query.includes('silent')) return;
    // The response repeats the question, with the status NXDOMAIN.
    query.writeUInt16BE(0x8183, 2);
    socket.send(query, from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    at: `127.0.0.1:${socket.address().port}`,
    asked: (text) => questions.filter((question) => question.includes(text)).length,
    stop: () => socket.close(),
  };
}
