/** The shutdown of the HTTP server. */
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { drain, trackConnections } from '#src/http/server/drain.ts';
import { eventually } from '#test/support/process.ts';

describe('the end of the HTTP server', () => {
  let server: Server;
  beforeEach(async () => {
    server = createServer();
    trackConnections(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });

  /** Sends a text on a new connection. The second returned socket is the server's. */
  const send = async (sent: string): Promise<readonly [Socket, Socket]> => {
    const accepted = once(server, 'connection');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.on('error', () => undefined);
    const [inner] = (await accepted) as [Socket];
    socket.write(sent);
    await eventually(() => inner.bytesRead === sent.length);
    return [socket, inner];
  };

  it('does not wait for connections on which nothing, or half a head, was sent', async () => {
    await send('');
    await send('GET / HT');
    await drain(server);
  }).timeout(20_000);

  it('answers what was asked before it', async () => {
    const asked = once(server, 'request');
    const [socket] = await send('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const [, response] = (await asked) as [unknown, ServerResponse];
    const [, silent] = await send('');
    const [answered, drained] = [text(socket), drain(server)];
    // The server has begun to close connections, and this request is still waiting.
    await once(silent, 'close');
    response.end('whole');
    expect(await answered).to.match(/^HTTP\/1\.1 200 .*whole/s);
    await drained;
  }).timeout(20_000);
});
