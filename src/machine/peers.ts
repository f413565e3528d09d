/**
 * Carries news between the processes on a machine. Each projector listens on a socket in a folder that only the service's user
 * can open. Workers connect to all projectors; a projector connects to the projectors that precede it. Messages are lines of
 * JSON. Broken connections are restored; each process catches up on lost news from the checkpoints within a second.
 */
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { News, Sockets } from './messages.ts';

/** Pause before reconnecting, in ms. */
const AGAIN_MS = 50;
/**
 * The maximum number of bytes that may wait for a process that doesn't read them. If more are waiting, the connection to that
 * process is closed.
 */
const MOST_WAITING = 8_000_000;

/** The connections of a process. Each connection has a `T` until it closes. */
export class Peers<T> {
  readonly #open = new Map<Socket, T>();
  #server: Server | undefined;
  #isStopped = false;

  /**
   * @param onOpen returns the `T` for a new connection; its parameter `send` sends news over that connection
   * @param onNews called with each message
   */
  constructor(
    private readonly sockets: Pick<Sockets, 'own' | 'others'>,
    private readonly onOpen: (send: (news: News) => void) => T,
    private readonly onNews: (peer: T, news: News) => void,
  ) {}

  /** Listens and connects; resolves when other processes can connect. */
  async start(): Promise<void> {
    const { own, others } = this.sockets;
    for (const path of others) this.#connect(path);
    if (own === undefined) return;
    // A process that was killed leaves its socket file behind.
    await rm(own, { force: true });
    const server = createServer((socket) => this.#use(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(own, resolve));
  }

  /** Returns the `T` of each connection. */
  all(): Iterable<T> {
    return this.#open.values();
  }

  /** Closes the connections. */
  stop(): void {
    this.#isStopped = true;
    this.#server?.close();
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #connect(path: string): void {
    const socket = connect(path);
    socket.once('connect', () => this.#use(socket));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      if (!this.#isStopped) setTimeout(() => this.#connect(path), AGAIN_MS).unref();
    });
    socket.unref();
  }

  #use(socket: Socket): void {
    const peer = this.onOpen((news) => {
      socket.write(`${JSON.stringify(news)}\n`);
      if (socket.writableLength > MOST_WAITING) socket.destroy();
    });
    this.#open.set(socket, peer);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#open.delete(socket));
    socket.unref();
    let rest = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.onNews(peer, JSON.parse(line) as News);
    });
  }
}
