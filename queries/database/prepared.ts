/**
 * Names for statements that are put together from parts, so that a connection parses and plans each shape once. There
 * are few shapes in use, but a query's alternatives can make any number: only the first ones are named.
 */

import type { QueryResult, QueryResultRow } from 'pg';

/** Runs one prepared statement. */
export interface Asks {
  query<R extends QueryResultRow>(statement: {
    readonly name?: string;
    readonly text: string;
    readonly values: unknown[];
    /** Rows as arrays of their columns. */
    readonly rowMode?: 'array';
  }): Promise<QueryResult<R>>;
}

/** The maximum number of named shapes; each takes some kilobytes on every connection. */
const MAX_SHAPES = 200;
/** A longer text is a query of very many parts: prepared it would take megabytes on every connection, for good. */
const MAX_LENGTH = 10_000;

/** A statement as `pg` takes it, with a name when its text has one. */
export type Prepared = (
  text: string,
  values: unknown[],
) => { name?: string; text: string; values: unknown[] };

/** Begins to give names. */
export function namedShapes(): Prepared {
  const names = new Map<string, string>();
  return (text, values) => {
    let name = names.get(text);
    if (name === undefined && names.size < MAX_SHAPES && text.length <= MAX_LENGTH) {
      name = `shape-${names.size}`;
      names.set(text, name);
    }
    return name === undefined ? { text, values } : { name, text, values };
  };
}

/** The names of this process. */
export const prepared: Prepared = namedShapes();
