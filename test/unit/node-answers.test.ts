/** Responses to requests that Node's HTTP server would otherwise answer itself. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { answerForNode, SERVER_OPTIONS } from '#src/http/server/node-answers.ts';

describe('a request that never reaches a route', () => {
  let server: Server;
  before(async () => {
    const times = { connectionsCheckingInterval: 20, headersTimeout: 100, requestTimeout: 100 };
    server = createServer({ ...SERVER_OPTIONS, ...times }, (request, response) => {
      if (request.url === '/') response.end('reached');
      else if (request.url === '/slow') response.write('a part');
    });
    answerForNode(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });

  const sent = async (request: string): Promise<string> => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(request);
    return text(socket);
  };
  const get = (...headers: string[]) => `${['GET / HTTP/1.1', ...headers].join('\r\n')}\r\n\r\n`;

  const cases: readonly (readonly [what: string, request: string, status: string])[] = [
    ['is no HTTP', 'NONSENSE\r\n\r\n', '400 Bad Request'],
    ['has an invalid version', 'GET / HTTP/9.9\r\n\r\n', '400 Bad Request'],
    ['has an invalid header', get('Host: x', 'a b: c'), '400 Bad Request'],
    ['has two lengths', get('Host: x', 'Content-Length: 1', 'Content-Length: 2'), '400 Bad Request'],
    ['begins HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400 Bad Request'],
    [
      'has too large headers',
      get('Host: x', `X: ${'x'.repeat(20_000)}`),
      '431 Request Header Fields Too Large',
    ],
    ['expects what nobody can do', get('Host: x', 'Expect: wonders'), '417 Expectation Failed'],
    ['takes too long', 'GET / HTTP/1.1\r\nHost: x\r\n', '408 Request Timeout'],
    [
      'has too long extensions of chunks',
      `POST /held HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
      '413 Payload Too Large',
    ],
  ];
  for (const [what, request, status] of cases)
    it(`is answered ${status} with a request id if it ${what}`, async () => {
      const answer = await sent(request);
      expect(answer.slice(answer.lastIndexOf('HTTP/1.1 '))).to.match(
        new RegExp(`^HTTP/1\\.1 ${status}\\r\\n(?:.*\\r\\n)*?Service-Request-Id: req_[\\w-]{22}\\r\\n`),
      );
    });

  it('reaches the service without Host, which answers it', async () => {
    expect(await sent('GET / HTTP/1.0\r\n\r\n')).to.match(/reached$/);
    expect(await sent(get('Connection: close'))).to.match(/reached$/);
  });

  it('writes nothing into an answer that has begun', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).to.include('a part');
    socket.write('NONSENSE\r\n\r\n');
    expect(await text(socket)).not.to.include('400 Bad Request');
  });
});
