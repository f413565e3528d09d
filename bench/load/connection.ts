/**
 * A keep-alive HTTP/1.1 connection with as little overhead as possible. The load generator shares the cores with the servers,
 * and its own cost makes two servers look more similar than they are.
 */
import { connect, type Socket } from 'node:net';

/** A response. */
export interface Answer {
  readonly status: number;
  /** The size of the body. */
  readonly bytes: number;
  /** The response's `Location` header. */
  readonly location: string | undefined;
  /** The first characters of an error's body; empty for a success, because its body isn't read. */
  readonly fault: string;
}

/** A response's parsed head: the body's length, and how the body ends if no length is given. */
interface Head {
  readonly status: number;
  readonly location: string | undefined;
  /** Undefined: chunked. */
  readonly length: number | undefined;
}

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const LAST_CHUNK = Buffer.from('0\r\n\r\n');
/** Maximum number of bytes to keep from an error's body. */
const FAULT_BYTES = 500;
const NO_BODY = new Set([204, 304]);

/** A connection that sends one request at a time. */
export class Connection {
  #head: Head | undefined;
  /** The bytes of an incomplete head. */
  #text: Buffer = Buffer.alloc(0);
  #bytes = 0;
  #fault = '';
  #tail: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  private constructor(private readonly socket: Socket) {
    socket.setNoDelay(true);
    socket.on('data', (data) => this.#received(data));
    socket.on('error', (error) => this.#failed(error));
    socket.on('close', () => this.#failed(new Error('the server closed the connection')));
  }

  /** Connects. */
  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port }, () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
      socket.once('error', reject);
    });
  }

  /** Sends a complete request and waits for the complete response. */
  send(request: Buffer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      if (this.socket.destroyed) this.#failed(new Error('the connection was closed'));
      else this.socket.write(request);
    });
  }

  /** Closes it. */
  close(): void {
    this.#waiting = undefined;
    this.socket.destroy();
  }

  #received(data: Buffer): void {
    let body = data;
    if (this.#head === undefined) {
      const text = this.#text.length === 0 ? data : Buffer.concat([this.#text, data]);
      const end = text.indexOf(END_OF_HEAD);
      if (end < 0) {
        this.#text = text;
        return;
      }
      this.#text = Buffer.alloc(0);
      this.#head = parseHead(text.toString('latin1', 0, end));
      body = text.subarray(end + END_OF_HEAD.length);
    }
    this.#bytes += body.length;
    if (this.#head.status >= 400) this.#fault += body.toString('utf8', 0, FAULT_BYTES);
    const { length } = this.#head;
    if (length === undefined) {
      this.#tail = Buffer.concat([this.#tail, body]).subarray(-LAST_CHUNK.length);
      if (this.#tail.equals(LAST_CHUNK)) this.#answered(this.#head);
    } else if (this.#bytes >= length) this.#answered(this.#head);
  }

  #answered({ status, location }: Head): void {
    const answer = { status, bytes: this.#bytes, location, fault: this.#fault };
    this.#head = undefined;
    this.#bytes = 0;
    this.#fault = '';
    this.#tail = Buffer.alloc(0);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve(answer);
  }

  #failed(error: Error): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.reject(error);
  }
}

function parseHead(text: string): Head {
  const status = Number(text.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)?.[1];
  const location = /\r\nlocation: *([^\r]+)/i.exec(text)?.[1];
  if (length === undefined && !NO_BODY.has(status) && !/\r\ntransfer-encoding: *chunked/i.test(text)) {
    throw new Error('an answer with neither Content-Length nor chunks');
  }
  return {
    status,
    location,
    length: NO_BODY.has(status) ? 0 : length === undefined ? undefined : Number(length),
  };
}
