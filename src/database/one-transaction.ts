/**
 * Runs statements as a transaction without `begin` and `commit`: everything sent before a Sync is one transaction, and the
 * first error rolls it back (PostgreSQL documentation, "Pipelining" in "Message Flow"). The statements are sent together and
 * their results are returned together, which halves the number of messages.
 */
import type pg from 'pg';
import { arrayLiteral } from './array-literal.ts';

/**
 * A statement and its parameters: texts, numbers, booleans, bytes, arrays of these, or null. A statement with a name is
 * prepared once.
 */
export interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
}

/** Runs a session's transactions in this way. */
export class OneTransaction {
  /** Names of the statements that the session has prepared. Only code that runs here may use these names. */
  readonly #prepared = new Set<string>();

  /** @param session without `pipeline`, which refuses queries other than its own */
  constructor(private readonly session: pg.Client) {}

  /**
   * Resolves when the statements are committed.
   * @throws errors from the database or the connection: nothing was written then, unless the connection ended.
   */
  run(statements: readonly Statement[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.session.query(new Submission(statements, this.#prepared, resolve, reject));
    });
  }
}

/** The object that `pg` calls while it runs a query. */
class Submission implements pg.Submittable {
  readonly #new: string[] = [];

  constructor(
    private readonly statements: readonly Statement[],
    private readonly prepared: Set<string>,
    private readonly done: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /**
   * Sends the statements.
   * @returns the error that prevented sending, if any; `handleError` receives it too
   */
  submit(connection: pg.Connection): unknown {
    const { stream } = connection;
    stream.cork();
    try {
      for (const statement of this.statements) this.#send(connection, statement);
      connection.sync();
      return undefined;
    } catch (error) {
      // Some statements may have been sent without a Sync; the server rolls them back when the session ends.
      stream.destroy();
      return error;
    } finally {
      stream.uncork();
    }
  }

  #send(connection: pg.Connection, { name = '', text, values = [] }: Statement): void {
    if (!this.prepared.has(name)) {
      // A statement that failed after being prepared may still be prepared, so it is closed first.
      if (name !== '') connection.close({ type: 'S', name }, true);
      connection.parse({ name, text, types: [] }, true);
      if (name !== '') this.#new.push(name);
    }
    connection.bind({ statement: name, values: values.map(asSent) }, true);
    connection.execute(null, true);
  }

  handleReadyForQuery(): void {
    for (const name of this.#new) this.prepared.add(name);
    this.done();
  }

  handleError(error: unknown): void {
    this.failed(error);
  }

  handleDataRow(): void {}
  handleCommandComplete(): void {}
  handleEmptyQuery(): void {}
}

/** Returns a parameter for PostgreSQL: bytes in binary, everything else as text. */
function asSent(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value;
  return Array.isArray(value) ? arrayLiteral(value.map(String)) : String(value);
}
