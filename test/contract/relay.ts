/** A TCP port that forwards to PostgreSQL or EventStoreDB, until the test decides otherwise. */
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** Relays connections; can freeze or break them, and can swallow a response. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: string;
  #swallow = false;
  #frozen = false;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((client) => this.#relay(client));
  }

  /** Opens a relay to the server that a `postgres://` or `esdb://` URL refers to. */
  static async open(target: string): Promise<Relay> {
    const relay = new Relay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  /** The URL that reaches the same database or server through the relay. */
  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the relay is closed');
    if (this.#target.startsWith('esdb:')) return `esdb://127.0.0.1:${address.port}?tls=false`;
    const { username, password, pathname } = new URL(this.#target);
    const user = password === '' ? username : `${username}:${password}`;
    return `postgres://${user}@127.0.0.1:${address.port}${pathname}?sslmode=disable`;
  }

  /** Sends new connections to another server, and breaks the old ones. */
  redirect(target: string): void {
    this.#target = target;
    this.break();
  }

  /** Sends new connections to another server. Old connections hang, as when a machine disappears without closing them. */
  abandon(target: string): void {
    this.#target = target;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Breaks every connection. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Stops passing anything on in either direction, on old and new connections: both ends keep waiting. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Passes on what was held back, and everything that follows. */
  thaw(): void {
    this.#frozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Breaks the next connection that carries a response, instead of passing the response on. */
  swallowAnswer(): void {
    this.#swallow = true;
  }

  async close(): Promise<void> {
    this.break();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #relay(client: Socket): void {
    const { hostname, port, searchParams } = new URL(this.#target);
    const folder = searchParams.get('host');
    const upstream =
      folder === null
        ? connect(Number(port || 5432), hostname)
        : connect(`${folder}/.s.PGSQL.${port || 5432}`);
    upstream.on('data', (chunk) => {
      if (this.#swallow) {
        this.#swallow = false;
        client.destroy();
      } else {
        client.write(chunk);
      }
    });
    client.on('data', (chunk) => upstream.write(chunk));
    for (const [one, another] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(one);
      if (this.#frozen) one.pause();
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        another.destroy();
      });
    }
  }
}
