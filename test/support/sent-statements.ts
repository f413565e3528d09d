/** Records the statements that services in this process send to PostgreSQL, however they are sent. */
import pg from 'pg';

/** A statement as sent. */
export interface SentStatement {
  readonly text: string;
  /** Bound values; empty if the values are part of the text. */
  readonly values: readonly unknown[];
  /** The connection's `application_name`. */
  readonly connection: string;
}

/** What is recorded. */
export interface Recording {
  /** Returns the statements sent since the last call. */
  taken(): SentStatement[];
  stop(): void;
}

type Query = (
  this: pg.Client & { connectionParameters?: { application_name?: string } },
  ...args: never[]
) => unknown;

/** Starts to record. */
export function recordStatements(): Recording {
  let sent: SentStatement[] = [];
  const { prototype } = pg.Client as unknown as { prototype: { query: Query } };
  const { query } = prototype;
  prototype.query = function (...args) {
    const statement = statementOf(args);
    if (statement !== undefined)
      sent.push({ ...statement, connection: this.connectionParameters?.application_name ?? '' });
    return query.apply(this, args);
  };
  return {
    taken() {
      const before = sent;
      sent = [];
      return before;
    },
    stop() {
      prototype.query = query;
    },
  };
}

/** Reads the forms that `query` accepts: a text, an object, or a stream that contains its text. */
function statementOf([first, second]: readonly unknown[]): Omit<SentStatement, 'connection'> | undefined {
  if (typeof first === 'string') return { text: first, values: Array.isArray(second) ? second : [] };
  if (typeof first !== 'object' || first === null) return undefined;
  const { text, values } = first as { readonly text?: unknown; readonly values?: unknown };
  if (typeof text !== 'string') return undefined;
  return { text, values: Array.isArray(values) ? values : Array.isArray(second) ? second : [] };
}
