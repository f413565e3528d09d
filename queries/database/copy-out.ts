/**
 * Reads rows as bytes, by COPY in PostgreSQL's binary format, for bodies that are sent as they are stored. As
 * query results, `pg` would decode them to strings, and the response would encode them again.
 * https://www.postgresql.org/docs/current/sql-copy.html, "Binary Format"
 */
import pg from 'pg';
import type { Queryable } from './gather.ts';

/** The fields of a row in their binary form, null for NULL. */
export type Tuple = readonly (Buffer | null)[];

/** The fields of the row that is being read. The next row uses the same object and bytes: take values, not the object. */
export class Fields {
  bytes: Buffer = Buffer.alloc(0);
  /** The offset of each field, and its size; -1 for NULL. */
  readonly from: number[] = [];
  readonly size: number[] = [];

  /** Returns text; null for NULL. */
  text(n: number): string | null {
    return this.#string(n, 'utf8');
  }

  /** Returns text that is ASCII, such as ids and times; null for NULL. */
  ascii(n: number): string | null {
    return this.#string(n, 'latin1');
  }

  int(n: number): number {
    return this.bytes.readInt32BE(this.from[n] ?? 0);
  }

  /** Returns an int8, exact to 2^53. */
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

/** A COPY whose rows are read as they arrive. It is a `Query`, so it can be pipelined. */
class CopyOut<Row> extends pg.Query {
  readonly found: Row[] = [];
  readonly #fields = new Fields();
  #bytes = 0;
  #hasBegun = false;

  /**
   * @param read returns the part of a row to keep; undefined for none.
   * @param keeps true if the part that is kept retains the row's bytes.
   * @param most bytes of rows; more are dropped.
   * @param full called when there are more than that.
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

  /** Called by the client for each message; the client reuses the message's bytes afterwards. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.most) {
      this.full();
      return;
    }
    const row = this.keeps ? Buffer.from(chunk) : chunk;
    // The header comes once, before or with the first row.
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
 * Reads the rows of a query.
 * @param select takes no parameters: literals come from `pg.escapeLiteral`.
 * @throws errors of `pg`.
 */
export function copyOut(database: Queryable, select: string): Promise<readonly Tuple[]> {
  return run(database, select, (fields) => fields.tuple(), true);
}

/**
 * Thrown when the rows exceed the limit of bytes. The statement is still running, so the connection can no longer be
 * used.
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
  return run(database, select, (fields) => read(fields.tuple()), false, most);
}

/**
 * Reads the rows of a query without making an object of each: for a hundred thousand rows of a few numbers.
 * @param select as in `copyOut`.
 * @param take is called for each row, takes the values that it needs, and doesn't throw.
 * @throws errors of `pg`.
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
    // The types know a callback beside a text only.
    database.query(copy as unknown as string, settle);
  });
}
