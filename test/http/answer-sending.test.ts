/**
 * Responses and slow readers: how much memory the responses use, when they end, and how many connections an address may open.
 * docs/limits.md
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { sendEnd, sendStream } from '#src/http/answer/send.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';

/** Opens a connection and sends a request without reading the response. */
function unread(url: string, path: string, headers: Readonly<Record<string, string>>): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const head = Object.entries({ Host: hostname, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      socket.write(`GET ${path} HTTP/1.1\r\n${head.join('')}\r\n`);
      socket.pause();
      resolve(socket);
    });
    socket.once('error', reject);
  });
}

/** Returns how many bytes are received over a connection until it is closed. */
async function wholeOf(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const chunk of socket) bytes += (chunk as Buffer).length;
  return bytes;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('readers that take nothing', () => {
  const CHUNK = Buffer.alloc(4_000_000, 'x');

  /**
   * Checks that only a few pieces of an endless response are produced if the client reads nothing, and that the connection is
   * then closed.
   */
  const served = async (listener: RequestListener): Promise<void> => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const closed = new Promise<void>((resolve) =>
      server.once('connection', (socket: Socket) => socket.once('close', () => resolve())),
    );
    const reader = await unread(`http://127.0.0.1:${port}`, '/', {});
    reader.on('error', () => undefined);
    await closed;
    reader.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };

  it('end with their connection, after a while without a drained byte', async () => {
    await served((_, res) => {
      res.writeHead(200, { 'Content-Length': String(4 * CHUNK.length) });
      sendEnd(res, Buffer.concat([CHUNK, CHUNK, CHUNK, CHUNK]), 200);
    });
  });

  it('make no more than they take of an answer that is made while it is sent', async () => {
    let made = 0;
    let ended = false;
    async function* endless() {
      try {
        for (; made < 100; made += 1) yield CHUNK;
      } finally {
        ended = true;
      }
    }
    await served((_, res) => {
      res.writeHead(200);
      void sendStream(res, endless(), 200).catch(() => undefined);
    });
    await until(() => ended);
    // These are the pieces that the system buffers, and the piece that waits.
    expect(made).to.be.below(5);
  });
});

describe('a large record', () => {
  let service: Service;
  let path: string;
  let size = 0;
  const auth = () => ({ Authorization: `Bearer ${service.key}` });
  const rss = (): number =>
    1_000 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]);

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    service = await startService();
    const created = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Large' }] }),
    });
    const subject = { reference: `Patient/${String(created.json.id)}` };
    path = `/Patient/${String(created.json.id)}/$everything`;
    for (let n = 0; n < 4; n += 1) {
      const entry = Array.from({ length: 4 }, () => ({
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'long' },
          subject,
          note: Array.from({ length: 2 }, () => ({ text: 'x'.repeat(1_000_000) })),
        },
        request: { method: 'POST', url: 'Observation' },
      }));
      const body = JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry });
      const { status, text } = await service.fhir('', { method: 'POST', body });
      expect(status, text).to.equal(200);
      size += 4 * 2_000_000;
    }
  });
  after(() => service?.stop());

  itAtFullSize(
    'is sent whole, as valid JSON, and takes little memory however many read it slowly',
    async () => {
      const whole = await service.fhir(path);
      const { entry, total } = JSON.parse(whole.text) as { entry: unknown[]; total: number };
      expect([whole.status, entry.length, total]).to.deep.equal([200, 17, 17]);
      expect(whole.headers.get('content-length')).to.equal(null);
      const before = rss();
      const readers = await Promise.all(
        Array.from({ length: 12 }, () => unread(service.url, `/fhir/R4${path}`, auth())),
      );
      // Each reader has received as much as its connection can take; another request is still answered.
      await Promise.all(readers.map((socket) => new Promise((resolve) => socket.once('readable', resolve))));
      expect((await service.fhir('/Patient?_count=1')).status).to.equal(200);
      // If the responses were kept in memory as a whole, they would take 384 MB, and twice that during assembly.
      expect(rss() - before).to.be.below(size * 6);
      for (const socket of readers) socket.destroy();
      const reader = await unread(service.url, `/fhir/R4${path}`, { ...auth(), Connection: 'close' });
      expect(await wholeOf(reader)).to.be.above(size);
    },
  );
});

describe('connections of one address', () => {
  const MOST = 12;
  let service: InProcess;
  after(() => service?.stop());

  const status = async (socket: Socket): Promise<string> => {
    const [chunk] =
      (await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))) ?? [];
    return String(chunk).slice(9, 12);
  };

  it('are limited, but not those of proxies that are trusted', async () => {
    service = await startInProcess({ connectionsPerAddress: MOST });
    const { hostname, port } = new URL(service.url);
    const ask = (socket: Socket) => socket.write('GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    const open = async (): Promise<Socket> => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      ask(socket);
      return socket;
    };
    const sockets: Socket[] = [];
    let refused: Socket | undefined;
    // Connections that fetch keeps open also count.
    while (refused === undefined && sockets.length <= MOST) {
      const socket = await open();
      if ((await status(socket)) === '429') refused = socket;
      else sockets.push(socket);
    }
    expect(refused).to.not.equal(undefined);
    expect(sockets.length).to.be.within(1, MOST);
    for (const socket of sockets) socket.destroy();
    await until(async () => {
      const socket = await open();
      const found = await status(socket);
      socket.destroy();
      return found === '200';
    });
    await service.stop();
    service = await startInProcess({ connectionsPerAddress: 1 }, { TRUSTED_PROXIES: '127.0.0.0/8' });
    expect((await service.fhir('/Patient')).status).to.equal(200);
    const { port: other } = new URL(service.url);
    const several = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const socket = connect({ host: hostname, port: Number(other) });
        ask(socket);
        return status(socket).finally(() => socket.destroy());
      }),
    );
    expect(several).to.deep.equal(['200', '200', '200', '200']);
  });
});
