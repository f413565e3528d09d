/**
 * A dedicated connection that is opened when needed, and reopened after it breaks. Also determines which errors mean that
 * PostgreSQL is unreachable, and retries operations after such errors.
 */
import pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';
import { persist as tryAgain } from '../persist.ts';
import { Unavailable } from '../store.ts';

export interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** SQL that every new connection runs before its first use. */
  readonly setup: string;
  /** The longest wait for a connection, and for a response, in ms. */
  readonly answerWithin: number;
  /** Called when a connection in use is lost. */
  readonly onLost?: (error: unknown) => void;
  /** Receives notifications: the payload, and the server process that sent it. */
  readonly onNotification?: (payload: string, processId: number) => void;
}

/** A connection that reopens itself. It rejects with errors from `pg`; see `isAway`. */
export class Session {
  #client: Promise<pg.Client> | undefined;
  /** The open connection and its server process. */
  #open: { readonly client: pg.Client; readonly backend: number } | undefined;

  constructor(readonly options: SessionOptions) {}

  /** The server process of the current connection; undefined while not connected. */
  get backend(): number | undefined {
    return this.#open?.backend;
  }

  /** Runs one statement, on a new connection if the last one broke. If the response is late, closes the connection. */
  async query<R extends unknown[]>(config: pg.QueryArrayConfig): Promise<R[]> {
    const client = await this.connect();
    try {
      const timed = { ...config, query_timeout: this.options.answerWithin };
      return (await client.query<R>(timed)).rows;
    } catch (error) {
      if (isAway(error)) this.#drop(client, error);
      throw error;
    }
  }

  /** Returns the connection, opening it if necessary. */
  connect(): Promise<pg.Client> {
    this.#client ??= this.#begin();
    return this.#client;
  }

  /** Closes the connection once its work is done. */
  async end(): Promise<void> {
    const opening = this.#client;
    this.#client = undefined;
    this.#open = undefined;
    const client = await opening?.catch(() => undefined);
    this.#open = undefined; // It may have been opened in the meantime; closing it is harmless.
    await client?.end().catch(() => undefined);
  }

  async #begin(): Promise<pg.Client> {
    const { url, name, setup, answerWithin, onNotification } = this.options;
    const client = new PrimaryClient({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: answerWithin,
      keepAlive: true,
    });
    client.on('error', (error) => this.#drop(client, error));
    client.on('end', () => this.#drop(client, new Error('the connection ended')));
    if (onNotification !== undefined) {
      client.on('notification', ({ payload, processId }) => onNotification(payload ?? '', processId));
    }
    try {
      await client.connect();
      await client.query(setup);
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      this.#open = { client, backend: rows[0]?.pid ?? 0 };
      return client;
    } catch (error) {
      this.#client = undefined;
      void client.end().catch(() => undefined);
      throw error;
    }
  }

  #drop(client: pg.Client, error: unknown): void {
    if (this.#open?.client !== client) return;
    this.#open = undefined;
    this.#client = undefined;
    void client.end().catch(() => undefined);
    this.options.onLost?.(error);
  }
}

/**
 * SQLSTATE codes that mean that a server is temporarily unable to work. Classes: 08 connection, 53 resources, 57 operator
 * intervention (shutdown, startup, cancellation), 58 system error. Single codes: 25006 read-only (a standby), 40001 and 40P01
 * lost races. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const AWAY = /^(08|53|57|58|25006|40001|40P01)/;

const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/** Returns true if an error means that the server is unreachable, and false if the statement was wrong. */
export function isAway(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  if (error instanceof pg.DatabaseError) return AWAY.test(error.code ?? '');
  // Node and the client library throw many different classes of errors for refused, reset or ended connections and missed
  // deadlines, whereas mistakes in code throw only these classes.
  return error instanceof Error && !MISTAKES.some((mistake) => error instanceof mistake);
}

/** Returns `Unavailable` if an error means that the server is unreachable, otherwise the error itself. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof Unavailable || !isAway(error)) return error;
  return new Unavailable(`the event log does not answer: ${error instanceof Error ? error.message : error}`, {
    cause: error,
  });
}

/** How long operations are retried, in ms: enough to replace a lost connection. */
const PATIENCE_MS = 1_500;

/**
 * Retries a repeatable operation until it succeeds, or until it fails for a reason other than an unreachable server.
 * @param onRetry called with each failure that is followed by another attempt.
 * @throws Unavailable after the last attempt.
 */
export async function persist<T>(attempt: () => Promise<T>, onRetry?: (error: unknown) => void): Promise<T> {
  try {
    return await tryAgain(attempt, { isAway, onRetry, patience: PATIENCE_MS });
  } catch (error) {
    throw asUnavailable(error);
  }
}
