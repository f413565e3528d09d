/**
 * Connects to EventStoreDB. Calls go through the library's client, which finds the leader and reconnects, but use raw
 * messages. The library's own reads return parsed metadata, whereas the chain needs the bytes. The library's own appends share
 * their state between clients, and exit the process if one of two clients breaks.
 */
import type { EventStoreDBClient } from '@eventstore/db-client';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { Unavailable } from '../store.ts';
import {
  type Answers,
  type AppendLine,
  callHttp,
  connect,
  openAppendLine,
  openChannel,
  openRead,
  serverVersion,
} from './library.ts';

/** A year, in ms: the deadline for calls that have no end. */
const NO_DEADLINE = 365 * 86_400_000;

/** Ends a call. The call is destroyed first, because the library would mistake a cancelled call for a lost connection. */
export function end(call: Answers | AppendLine, error?: Error): void {
  call.once('error', () => undefined);
  call.once('close', () => call.cancel());
  call.destroy(error);
}

/** A client for one server or cluster. Every call goes to the leader, because followers may lag. */
export class LogClient {
  readonly #client: EventStoreDBClient;

  /**
   * Connects when first used.
   * @param url a connection string for the client library.
   * @throws Unavailable if the URL isn't a connection string, or names a missing file. The error never quotes the URL, because
   *   it
   * contains a password.
   */
  constructor(
    url: string,
    private readonly answerWithin: number,
  ) {
    try {
      this.#client = connect(url.replace(/^kurrentdb/, 'esdb'));
    } catch (error) {
      const reason = error instanceof Error && error.name !== 'ParseError' ? `: ${error.message}` : '';
      throw new Unavailable(`it is not a valid EventStoreDB connection string${reason}`);
    }
  }

  /**
   * Sends a read that ends within the deadline.
   * @throws Unavailable if no node is found before the deadline.
   */
  read(request: ReadReq): Promise<Answers> {
    return this.#reading(request, this.answerWithin);
  }

  /**
   * Sends a read that ends when it is cancelled or breaks.
   * @throws Unavailable if no node is found in time.
   */
  follow(request: ReadReq): Promise<Answers> {
    return this.#reading(request, NO_DEADLINE);
  }

  /**
   * Opens a call for appends.
   * @throws Unavailable if opening takes longer than the deadline.
   */
  appendLine(): Promise<AppendLine> {
    const opening = openAppendLine(this.#client, NO_DEADLINE);
    return this.#within(opening, (line) => end(line));
  }

  /**
   * Returns the server's version, such as `24.2.0`; `unknown` if the server is too old to report it.
   * @throws Unavailable
   */
  async version(): Promise<string> {
    return this.#within(serverVersion(this.#client));
  }

  /**
   * Permanently ends a stream, regardless of its revision.
   * @throws Unavailable if the server doesn't respond in time.
   */
  async tombstone(stream: string): Promise<void> {
    const options = { requiresLeader: true, deadline: this.answerWithin };
    await this.#within(this.#client.tombstoneStream(stream, options));
  }

  /**
   * Calls the server's HTTP interface.
   * @returns its response
   * @throws Unavailable if the server doesn't respond before the deadline; the library's call can't be cancelled, and its
   *   socket stays open until the process's agent closes it.
   */
  http(method: 'GET' | 'POST', path: string): Promise<unknown> {
    return this.#within(callHttp(this.#client, method, path));
  }

  /** Ends every call and closes the connection. */
  async close(): Promise<void> {
    await this.#client.dispose();
    const finding = openChannel(this.#client);
    const channel = await this.#within(finding, (late) => late.close()).catch(() => undefined);
    channel?.close();
  }

  /**
   * Rejects when the deadline passes.
   * @param discard receives a result that arrives too late.
   */
  async #within<T>(work: Promise<T>, discard?: (late: T) => void): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        work.then(discard, () => undefined);
        reject(new Unavailable(`EventStoreDB does not answer within ${this.answerWithin} ms`));
      }, this.answerWithin);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Counts a call's deadline from the moment when the call is sent, because it may take longer to find the leader of a cluster
   * that doesn't respond.
   */
  #reading(request: ReadReq, deadline: number): Promise<Answers> {
    const opening = openRead(this.#client, request, deadline);
    return this.#within(opening, (answers) => end(answers));
  }
}
