/** A dedicated connection, opened when needed and reopened after it broke. */
import type pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';
import { isAway } from './faults.ts';

export interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** SQL that runs on every new connection before its first use. */
  readonly setup: string;
  /** The maximum wait for a connection, and for an answer, in ms. */
  readonly answerWithin: number;
  /** Called when a connection in use is lost. */
  readonly onLost?: (error: unknown) => void;
  /** Takes notifications: payload and the backend that sent them. */
  readonly onNotification?: (payload: string, processId: number) => void;
}

/** A connection that reopens itself. It rejects with the errors of `pg`; see `faults.ts`. */
export class Session {
  #client: Promise<pg.Client> | undefined;
  /** The open connection and its server process. */
  #open: { readonly client: pg.Client; readonly backend: number } | undefined;

  constructor(readonly options: SessionOptions) {}

  /** The server process of the present connection; undefined while there is none. */
  get backend(): number | undefined {
    return this.#open?.backend;
  }

  /** Runs one statement, on a new connection if the last one broke. A late answer costs the connection. */
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

  /** The connection, opened if there is none. */
  connect(): Promise<pg.Client> {
    this.#client ??= this.#begin();
    return this.#client;
  }

  /** Ends the connection once its work is done. */
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
