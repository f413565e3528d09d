/** Runs statements, each in its own read-only transaction. */
import pg from 'pg';
import { isQuery } from './statements.ts';

/** A value for display: numbers, booleans and JSON keep their type; everything else is text as PostgreSQL prints it. */
export type Shown = string | number | boolean | object | null;

/** The result of a statement, limited to the requested number of rows. */
export interface Result {
  /** Names of the result's columns; empty if the statement returns no rows. */
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Shown[])[];
  /** True if there were more rows. */
  readonly more: boolean;
  /** `SELECT`, `SHOW`, `EXPLAIN`, …. */
  readonly command: string;
}

const AT_A_TIME = 500;

const { BOOL, FLOAT4, FLOAT8, INT2, INT4, INT8, JSON: JSON_TYPE, JSONB, OID } = pg.types.builtins;
const NUMBERS: readonly number[] = [INT2, INT4, INT8, OID, FLOAT4, FLOAT8];

const types: pg.CustomTypesConfig = {
  getTypeParser: (type: number) => (text: string | Buffer) => {
    const value = String(text);
    if (NUMBERS.includes(type)) return Number.isFinite(Number(value)) ? Number(value) : value;
    if (type === BOOL) return value === 't';
    return type === JSON_TYPE || type === JSONB ? JSON.parse(value) : value;
  },
};

/** Checks whether the connected role may become `pg_read_all_data`, which can read every table and has no other rights. */
const MAY_BECOME_READER = `select rolsuper or pg_has_role('pg_read_all_data', 'member') as reader
  from pg_roles where rolname = current_user`;

/**
 * A read-only connection. Each statement runs in a read-only transaction, as `pg_read_all_data` if the connected role may
 * become that role: a superuser's `copy … to program` or `pg_terminate_backend` would work even in a read-only transaction.
 */
export class ReadOnlySession {
  readonly #client: pg.Client;
  #pid: number | undefined;
  #reader = false;

  constructor(private readonly url: string) {
    this.#client = new pg.Client({
      connectionString: url,
      application_name: 'annal sql',
      connectionTimeoutMillis: 5_000,
    });
    this.#client.on('error', () => undefined);
  }

  /** @throws the driver's Error if the server can't be reached. */
  async open(): Promise<void> {
    await this.#client.connect();
    const { rows } = await this.#client.query<{ pid: number }>('select pg_backend_pid() as pid');
    this.#pid = rows[0]?.pid;
    const role = await this.#client.query<{ reader: boolean }>(MAY_BECOME_READER);
    this.#reader = role.rows[0]?.reader === true;
  }

  /**
   * Runs one statement in a read-only transaction that is rolled back. The `select` before the statement takes a snapshot;
   * after that, PostgreSQL refuses to make the transaction read-write.
   * @param most maximum number of rows to return.
   * @throws the server's DatabaseError, for example `cannot execute … in a read-only transaction`, or the error for several
   * statements.
   */
  async run(statement: string, most: number): Promise<Result> {
    await this.#client.query('begin transaction read only');
    try {
      await this.#client.query('select');
      if (this.#reader) await this.#client.query('set local role pg_read_all_data');
      return isQuery(statement)
        ? await this.#fetch(statement, most)
        : renderResult(await this.#query(statement), most);
    } finally {
      await this.#client.query('rollback');
    }
  }

  /** Cancels the running statement, using another connection. */
  async cancel(): Promise<void> {
    const other = new pg.Client({ connectionString: this.url, application_name: 'annal sql cancel' });
    try {
      await other.connect();
      await other.query('select pg_cancel_backend($1)', [this.#pid]);
    } finally {
      await other.end();
    }
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }

  /** Uses a cursor, so that memory use depends on the number of requested rows rather than on the size of the table. */
  async #fetch(statement: string, most: number): Promise<Result> {
    await this.#query(`declare read_only no scroll cursor for ${statement}`);
    const rows: Shown[][] = [];
    for (;;) {
      const part = await this.#query(`fetch ${Math.min(AT_A_TIME, most + 1 - rows.length)} from read_only`);
      rows.push(...part.rows);
      if (part.rows.length === 0 || rows.length > most)
        return { ...renderResult({ ...part, rows }, most), command: 'SELECT' };
    }
  }

  /**
   * Uses a prepared statement, which can't contain several statements; otherwise, a `commit` among them would end the
   * transaction.
   */
  #query(text: string): Promise<pg.QueryArrayResult<Shown[]>> {
    const prepared = { text, rowMode: 'array' as const, types, queryMode: 'extended' };
    return this.#client.query<Shown[]>(prepared);
  }
}

function renderResult(
  { fields, rows, command }: Pick<pg.QueryArrayResult<Shown[]>, 'fields' | 'rows' | 'command'>,
  most: number,
): Result {
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.slice(0, most),
    more: rows.length > most,
    command,
  };
}
