/**
 * Reads rows as bytes, by COPY in PostgreSQL's binary format, for bodies that are sent as they are stored. As
 * query results, `pg` would decode them to strings, and the response would encode them again.
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

/** A COPY whose rows are read as they arrive. It is a `Query`, so it can be pipelined. */
class CopyOut<Row> extends pg.Query {
  readonly found: Row[] = [];
  #bytes = 0;

  /**
   * @param keeps true if what is read of a row retains its bytes.
   * @param most bytes of rows; more are dropped.
   * @param full called when there are more than that.
   */
  constructor(
    text: string,
    readonly read: (tuple: Tuple) => Row,
    readonly keeps: boolean,
    readonly most: number,
    readonly full: () => void,
  ) {
    super(text);
  }

  /** Called by the client for each message; the client reuses the message's bytes afterwards. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.most) {
      this.full();
      return;
    }
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
 * Reads the rows of a query.
 * @param select takes no parameters: literals come from `pg.escapeLiteral`.
 * @throws errors of `pg`.
 */
export function copyOut(database: Queryable, select: string): Promise<readonly Tuple[]> {
  return run(database, select, (tuple) => tuple, true);
}

/**
 * Thrown when the rows exceed the limit of bytes. The statement still runs, so the connection can't be used
 * any more.
 */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';

  constructor(readonly most: number) {
    super(`the rows of a query are larger than ${most} bytes`);
  }
}

/**
 * Reads the rows of a query without retaining their bytes, for thousands of rows that are read as text.
 * @param select as in `copyOut`.
 * @param read retains nothing of the tuple, and doesn't throw.
 * @param most bytes of all rows.
 * @throws TooManyBytes as soon as there are more; errors of `pg`.
 */
export function readOut<Row>(
  database: Queryable,
  select: string,
  read: (tuple: Tuple) => Row,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  return run(database, select, read, false, most);
}

function run<Row>(
  database: Queryable,
  select: string,
  read: (tuple: Tuple) => Row,
  keeps: boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const full = (): void => reject(new TooManyBytes(most));
    const copy = new CopyOut(`copy (${select}) to stdout (format binary)`, read, keeps, most, full);
    const settle = (error: Error | null): void => (error ? reject(error) : resolve(copy.found));
    // The types know a callback beside a text only.
    database.query(copy as unknown as string, settle);
  });
}
