/**
 * Combines many single lookups into one statement, and several kinds of them into one round trip. Lookups of
 * one tick run together; while they run, the next ones collect (measured: 60k reads a second against 15–25k
 * one by one).
 */
import { Socket } from 'node:net';
import DataLoader from 'dataloader';
import pg from 'pg';
import { sendTogether } from '#src/database/send-together.ts';

/** The maximum number of keys that share a statement. */
const MAX_KEYS = 500;

/** A connection that runs statements. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/** How many passes of the event loop a batch waits at most while each pass adds lookups. */
const PASSES = 8;

/** Runs look-ups in turns: the keys requested during one turn make the next. Nothing is cached. */
class Turns {
  #waiting: (() => void)[] = [];
  #asked = 0;
  #underWay = 0;
  #due = false;

  /**
   * @param together runs the start of a turn, for statements that should be sent together.
   */
  constructor(readonly together: (start: () => void) => void = (start) => start()) {}

  /** Starts work at the next turn. */
  readonly schedule = (start: () => void): void => {
    this.#waiting.push(start);
    this.#next();
  };

  /** Counts another lookup that waits. */
  asked(): void {
    this.#asked += 1;
  }

  /** Counts a finished part of the batch. */
  done(): void {
    this.#underWay -= 1;
    this.#next();
  }

  #next(): void {
    if (this.#due || this.#underWay > 0 || this.#waiting.length === 0) return;
    this.#due = true;
    this.#pass(this.#asked, PASSES);
  }

  /** Requests that come together belong to one turn: it starts when a pass of the event loop brings no more of them. */
  #pass(before: number, left: number): void {
    setImmediate(() => {
      if (this.#asked > before && left > 1) this.#pass(this.#asked, left - 1);
      else this.#start();
    });
  }

  #start(): void {
    this.#due = false;
    const turn = this.#waiting;
    this.#waiting = [];
    this.#underWay = turn.length;
    this.together(() => {
      for (const start of turn) start();
    });
  }
}

function makeLoader<K, V>(
  turns: Turns,
  load: (keys: readonly K[]) => Promise<readonly V[]>,
  maxBatchSize = MAX_KEYS,
): (key: K) => Promise<V> {
  const loader = new DataLoader<K, V>(
    async (keys) => {
      try {
        return await load(keys);
      } finally {
        turns.done();
      }
    },
    { cache: false, maxBatchSize, batchScheduleFn: turns.schedule },
  );
  return (key) => {
    turns.asked();
    return loader.load(key);
  };
}

/**
 * Turns a look-up of many keys into a look-up of one.
 * @param load takes keys (with repetitions) and returns one result per key, in their order.
 */
export function gather<K, V>(load: (keys: readonly K[]) => Promise<readonly V[]>): (key: K) => Promise<V> {
  return makeLoader(new Turns(), load);
}

/** An open connection and its socket. */
interface Session {
  readonly client: pg.Client;
  readonly socket: Socket;
}

/**
 * A connection for the short lookups of nearly every request. The statements of a batch are sent together, so
 * that authenticating some requests and reading for others takes one round trip. It is opened when first
 * needed, and reopened after it broke; lookups in flight then fail.
 */
export class Line {
  readonly #turns = new Turns((start) => this.#inOnePiece(start));
  #session: Session | undefined;
  #opening: Promise<Session> | undefined;

  /** @param options how the connection is opened: those of the service's pool. */
  constructor(readonly options: pg.ClientConfig) {}

  /** Gathers lookups like `gather`, over this connection; at most `maxKeys` share a statement. */
  gather<K, V>(
    load: (database: Queryable, keys: readonly K[]) => Promise<readonly V[]>,
    maxKeys = MAX_KEYS,
  ): (key: K) => Promise<V> {
    const overThis = async (keys: readonly K[]) => {
      const session = this.#session ?? (await this.#open());
      try {
        return await load(session.client, keys);
      } catch (error) {
        if (isEnd(error)) this.#drop(session);
        throw error;
      }
    };
    return makeLoader(this.#turns, overThis, maxKeys);
  }

  /** Lets go of the connection. */
  async close(): Promise<void> {
    const session = await this.#opening?.catch(() => undefined);
    this.#forget();
    await session?.client.end();
  }

  #inOnePiece(start: () => void): void {
    sendTogether(this.#session?.socket, start);
  }

  #open(): Promise<Session> {
    this.#opening ??= this.#connect();
    return this.#opening;
  }

  async #connect(): Promise<Session> {
    // Unreferenced: a service that has closed its port may exit without closing this connection.
    const socket = new Socket().unref();
    const client = new pg.Client({ ...this.options, pipeline: true, stream: () => socket });
    const ended = (): void => {
      // A dropped connection may end after the next one has been opened.
      if (this.#session?.client === client) this.#forget();
    };
    client.on('error', ended);
    client.on('end', ended);
    try {
      await client.connect();
    } catch (error) {
      this.#forget();
      throw error;
    }
    this.#session = { client, socket };
    return this.#session;
  }

  /** Drops a connection; lookups in flight fail, and the next lookup opens another connection. */
  #drop(session: Session): void {
    if (this.#session === session) this.#forget();
    session.socket.destroy();
  }

  #forget(): void {
    this.#session = undefined;
    this.#opening = undefined;
  }
}

/**
 * Returns true if the connection is unusable: the server ended the session (FATAL), or a response exceeded
 * `query_timeout`, which pg reports only by its message.
 */
function isEnd(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.severity === 'FATAL';
  return error instanceof Error && error.message === 'Query read timeout';
}
