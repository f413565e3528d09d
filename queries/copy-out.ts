/**
 * Rows as bytes, by COPY in PostgreSQL's binary format: bodies that leave as they are stored. As query results `pg`
 * would decode them to strings, only for the answer to encode them again.
 * https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
 */
import pg from 'pg';
import type { Queryable } from './gather.ts';

/** The fields of a row in their binary form, null for NULL. */
export type Tuple = readonly (Buffer | null)[];

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Signature, flags, and the length of an extension that there is none of. */
const HEADER_BYTES = SIGNATURE.length + 8;
const TRAILER = -1;

/** A COPY whose rows are read as they come. Being a `Query`, it may be pipelined. */
class CopyOut<Row> extends pg.Query {
  readonly found: Row[] = [];

  /** @param keeps whether what is read of a row holds on to its bytes. */
  constructor(
    text: string,
    readonly read: (tuple: Tuple) => Row,
    readonly keeps: boolean,
  ) {
    super(text);
  }

  /** Called by the client for each message, whose bytes it will use again. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    const row = this.keeps ? Buffer.from(chunk) : chunk;
    const isFirst = this.found.length === 0 && row.subarray(0, SIGNATURE.length).equals(SIGNATURE);
    let at = isFirst ? HEADER_BYTES : 0;
    while (at < row.length) {
      const fields = row.readInt16BE(at);
      at += 2;
      if (fields === TRAILER) return;
      const tuple: (Buffer | null)[] = [];
      for (let n = 0; n < fields; n += 1) {
        const size = row.readInt32BE(at);
        at += 4;
        tuple.push(size < 0 ? null : row.subarray(at, at + size));
        at += Math.max(size, 0);
      }
      this.found.push(this.read(tuple));
    }
  }
}

/**
 * The rows of a query.
 * @param select takes no parameters: literals come from `pg.escapeLiteral`.
 * @throws what `pg` throws.
 */
export function copyOut(database: Queryable, select: string): Promise<readonly Tuple[]> {
  return run(database, select, (tuple) => tuple, true);
}

/**
 * What is read of the rows of a query, whose bytes are not held: of thousands that are read as text.
 * @param select as of `copyOut`.
 * @param read keeps nothing of the tuple, and does not throw.
 * @throws what `pg` throws.
 */
export function readOut<Row>(
  database: Queryable,
  select: string,
  read: (tuple: Tuple) => Row,
): Promise<readonly Row[]> {
  return run(database, select, read, false);
}

function run<Row>(
  database: Queryable,
  select: string,
  read: (tuple: Tuple) => Row,
  keeps: boolean,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const copy = new CopyOut(`copy (${select}) to stdout (format binary)`, read, keeps);
    const settle = (error: Error | null): void => (error ? reject(error) : resolve(copy.found));
    // The types know a callback beside a text only.
    database.query(copy as unknown as string, settle);
  });
}
