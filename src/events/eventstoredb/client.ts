/**
 * The connection to EventStoreDB. Calls go through the library's client, which finds the leader and reconnects, but
 * with messages as they are on the wire: its own reads give metadata parsed, and the chain needs its bytes; its own
 * appends share their state between clients and end the process when one of two breaks.
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

/** A year, in ms: the deadline of calls that should not end. */
const NO_DEADLINE = 365 * 86_400_000;

/** Ends a call. The library would take a call that was cancelled for a lost connection: this one was destroyed first. */
export function end(call: Answers | AppendLine, error?: Error): void {
  call.once('error', () => undefined);
  call.once('close', () => call.cancel());
  call.destroy(error);
}

/** A client of one server or cluster. Every call goes to the leader, because followers may lag. */
export class LogClient {
  readonly #client: EventStoreDBClient;

  /**
   * Connects when first used.
   * @param url a connection string of the client library.
   * @throws Unavailable if it is not a connection string, or names a missing file; never quotes it, because it has a
   * password.
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

  /** Sends a read that ends within the deadline. @throws Unavailable when no node is found within it. */
  read(request: ReadReq): Promise<Answers> {
    return this.#reading(request, this.answerWithin);
  }

  /** Sends a read that ends when it is cancelled or breaks. @throws Unavailable when no node is found in time. */
  follow(request: ReadReq): Promise<Answers> {
    return this.#reading(request, NO_DEADLINE);
  }

  /** Opens a line for appends. @throws Unavailable when that takes longer than the deadline. */
  appendLine(): Promise<AppendLine> {
    const opening = openAppendLine(this.#client, NO_DEADLINE);
    return this.#within(opening, (line) => end(line));
  }

  /**
   * Returns the server's version, such as `24.2.0`; `unknown` for a server too old to report it.
   * @throws Unavailable
   */
  async version(): Promise<string> {
    return this.#within(serverVersion(this.#client));
  }

  /** Ends a stream for ever, whatever its revision. @throws Unavailable when no answer comes in time. */
  async tombstone(stream: string): Promise<void> {
    const options = { requiresLeader: true, deadline: this.answerWithin };
    await this.#within(this.#client.tombstoneStream(stream, options));
  }

  /**
   * Calls the HTTP interface of the server.
   * @returns its answer
   * @throws Unavailable if there is none within the deadline; the library's call cannot be
   * cancelled, and its socket stays open until the agent of the process closes it.
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
   * @param discard receives a result that arrives later.
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
   * Starts the deadline of a call when it is sent; finding the leader of a cluster that doesn't respond can
   * take longer.
   */
  #reading(request: ReadReq, deadline: number): Promise<Answers> {
    const opening = openRead(this.#client, request, deadline);
    return this.#within(opening, (answers) => end(answers));
  }
}
