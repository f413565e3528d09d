/**
 * Names for statements that are composed of parts, so that a connection parses and plans each shape only once. Only a few
 * shapes are common, but combinations of a query's options can produce any number of shapes: only the first ones get a name.
 */

import type { QueryResult, QueryResultRow } from 'pg';

/** Runs one prepared statement. */
export interface Asks {
  query<R extends QueryResultRow>(statement: {
    readonly name?: string;
    readonly text: string;
    readonly values: unknown[];
    /** Returns rows as arrays of their columns. */
    readonly rowMode?: 'array';
  }): Promise<QueryResult<R>>;
}

/** The maximum number of named shapes; each shape takes some kilobytes on every connection. */
const MAX_SHAPES = 200;
/**
 * The maximum length of a text to prepare. A longer text is a query with very many parts: preparing it would permanently take
 * megabytes on every connection.
 */
const MAX_LENGTH = 10_000;

/** Returns a statement in the form that `pg` accepts, with a name if its text has one. */
export type Prepared = (
  text: string,
  values: unknown[],
) => { name?: string; text: string; values: unknown[] };

/** Creates an empty set of names. */
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

/** This process's names. */
export const prepared: Prepared = namedShapes();

/**
 * Returns a statement without a name, which PostgreSQL plans for its values each time. From the sixth time on, a named
 * statement may get a plan for any values, and records differ so much in size that such a plan sorts a large one for each page.
 */
export const plannedEachTime: Prepared = (text, values) => ({ text, values });
