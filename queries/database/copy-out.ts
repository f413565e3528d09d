/**
 * Reads rows as bytes, with COPY in PostgreSQL's binary format, for bodies that are sent as stored. If the rows were ordinary
 * query results, `pg` would decode the bodies to strings, and they would have to be encoded again for the response.
 * https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
 */
import pg from 'pg';
import type { Queryable } from './gather.ts';

/** A row's fields in binary form; null for NULL. */
export type Tuple = readonly (Buffer | null)[];

/** The fields of the current row. The next row reuses the same object and bytes: keep values, not the object. */
export class Fields {
  bytes: Buffer = Buffer.alloc(0);
  /** Each field's offset and size; the size is -1 for NULL. */
  readonly from: number[] = [];
  readonly size: number[] = [];

  /** Returns text; null for NULL. */
  text(n: number): string | null {
    return this.#string(n, 'utf8');
  }

  /** Returns ASCII text, such as ids and times; null for NULL. */
  ascii(n: number): string | null {
    return this.#string(n, 'latin1');
  }

  int(n: number): number {
    return this.bytes.readInt32BE(this.from[n] ?? 0);
  }

  /** Returns an int8, exact up to 2^53. */
  int8(n: number): number {
    const from = this.from[n] ?? 0;
    return this.bytes.readInt32BE(from) * 2 ** 32 + this.bytes.readUInt32BE(from + 4);
  }

  /** Returns a view of each field. */
  tuple(): Tuple {
    return this.size.map((size, n) => {
      const from = this.from[n] ?? 0;
      return size < 0 ? null : this.bytes.subarray(from, from + size);
    });
  }

  #string(n: number, encoding: 'utf8' | 'latin1'): string | null {
    const [from = 0, size = -1] = [this.from[n], this.size[n]];
    return size < 0 ? null : this.bytes.toString(encoding, from, from + size);
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1');
/** Signature, flags, and the length of the header's extension, which is 0. */
const HEADER_BYTES = SIGNATURE.length + 8;
const TRAILER = -1;

/** A COPY whose rows are read as they arrive. It is a pg `Query`, so it can be pipelined. */
class CopyOut<Row> extends pg.Query {
  readonly found: Row[] = [];
  readonly #fields = new Fields();
  #bytes = 0;
  #hasBegun = false;

  /**
   * @param read returns the part of a row to keep, or undefined
   * @param keeps true if the kept part refers to the row's bytes
   * @param most maximum number of bytes in all rows; further rows are dropped
   * @param full called if there are more bytes than that
   */
  constructor(
    text: string,
    readonly read: (fields: Fields) => Row | undefined,
    readonly keeps: boolean,
    readonly most: number,
    readonly full: () => void,
  ) {
    super(text);
  }

  /** Called by the client for each message. Afterwards the client reuses the message's bytes. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.most) {
      this.full();
      return;
    }
    const row = this.keeps ? Buffer.from(chunk) : chunk;
    // The header is sent once, before or together with the first row.
    const isFirst = !this.#hasBegun && row.subarray(0, SIGNATURE.length).equals(SIGNATURE);
    this.#hasBegun = true;
    let at = isFirst ? HEADER_BYTES : 0;
    while (at < row.length) {
      const fields = row.readInt16BE(at);
      at += 2;
      if (fields === TRAILER) return;
      const { from, size: sizes } = this.#fields;
      this.#fields.bytes = row;
      for (let n = 0; n < fields; n += 1) {
        const size = row.readInt32BE(at);
        at += 4;
        from[n] = at;
        sizes[n] = size;
        at += Math.max(size, 0);
      }
      const read = this.read(this.#fields);
      if (read !== undefined) this.found.push(read);
    }
  }
}

/**
 * Reads a query's rows.
 * @param select takes no parameters: use literals from `pg.escapeLiteral`
 * @throws errors from `pg`
 */
export function copyOut(database: Queryable, select: string): Promise<readonly Tuple[]> {
  return run(database, select, (fields) => fields.tuple(), true);
}

/**
 * Thrown if the rows exceed the maximum number of bytes. Because the statement is still running, the connection can no longer
 * be used.
 */
export class TooManyBytes extends Error {
  override readonly name = 'TooManyBytes';

  constructor(readonly most: number) {
    super(`the rows of a query are larger than ${most} bytes`);
  }
}

/**
 * Reads a query's rows without retaining their bytes; for thousands of rows that are read as text.
 * @param select as in `copyOut`
 * @param read must not retain the tuple, and must not throw
 * @param most maximum number of bytes in all rows
 * @throws TooManyBytes as soon as there are more bytes than that; errors from `pg`
 */
export function readOut<Row>(
  database: Queryable,
  select: string,
  read: (tuple: Tuple) => Row,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  return run(database, select, (fields) => read(fields.tuple()), false, most);
}

/**
 * Reads a query's rows without creating an object for each row; for a hundred thousand rows with a few numbers each.
 * @param select as in `copyOut`
 * @param take called for each row; copies the values that it needs, and must not throw
 * @throws errors from `pg`
 */
export async function scanOut(
  database: Queryable,
  select: string,
  take: (fields: Fields) => void,
): Promise<void> {
  const nothing = (fields: Fields): undefined => {
    take(fields);
  };
  await run<never>(database, select, nothing, false);
}

function run<Row>(
  database: Queryable,
  select: string,
  read: (fields: Fields) => Row | undefined,
  keeps: boolean,
  most = Number.POSITIVE_INFINITY,
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const full = (): void => reject(new TooManyBytes(most));
    const copy = new CopyOut(`copy (${select}) to stdout (format binary)`, read, keeps, most, full);
    const settle = (error: Error | null): void => (error ? reject(error) : resolve(copy.found));
    // The type declarations allow a callback only together with text.
    database.query(copy as unknown as string, settle);
  });
}
