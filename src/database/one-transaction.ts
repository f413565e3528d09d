/**
 * Runs statements as a transaction without `begin` and `commit`: PostgreSQL treats everything sent before a Sync as one
 * transaction, and the first error rolls it back (PostgreSQL documentation, "Pipelining" in "Message Flow"). The statements
 * are sent together and their results are returned together, which halves the number of messages.
 */
import type pg from 'pg';
import { arrayLiteral } from './array-literal.ts';

/**
 * A statement and its parameters: texts, numbers, booleans, bytes, arrays of these, or null. A statement with a name is
 * prepared only once.
 */
export interface Statement {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
}

/** Runs the transactions of one session in this way. */
export class OneTransaction {
  /** Names of the statements that the session has prepared. Only code that runs here may use these names. */
  readonly #prepared = new Set<string>();

  /** @param session without `pipeline`, which refuses queries other than its own */
  constructor(private readonly session: pg.Client) {}

  /**
   * Resolves when the statements are committed.
   * @throws errors from the database or the connection. Nothing was written then, except possibly if the connection ended.
   */
  run(statements: readonly Statement[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.session.query(new Submission(statements, this.#prepared, resolve, reject));
    });
  }
}

/** The object whose methods `pg` calls to run a query. */
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
   * @returns the error that prevented sending, if any; `handleError` receives this error too
   */
  submit(connection: pg.Connection): unknown {
    const { stream } = connection;
    stream.cork();
    try {
      for (const statement of this.statements) this.#send(connection, statement);
      connection.sync();
      return undefined;
    } catch (error) {
      // Some statements may have been sent without a Sync; the server rolls these back when the session ends.
      stream.destroy();
      return error;
    } finally {
      stream.uncork();
    }
  }

  #send(connection: pg.Connection, { name = '', text, values = [] }: Statement): void {
    if (!this.prepared.has(name)) {
      // If a statement failed after it was prepared, the name may still be in use, so it is closed first.
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

/** Returns a parameter in the form in which it is sent to PostgreSQL: bytes in binary, everything else as text. */
function asSent(value: unknown): string | Buffer | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value;
  return Array.isArray(value) ? arrayLiteral(value.map(String)) : String(value);
}
