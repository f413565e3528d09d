/**
 * Keeps a record's rows as bytes in a few large blocks, and decodes a row only when it is read, because few rows are shown. As
 * separate strings or buffers, thousands of rows would be copied at every garbage collection.
 */
import type { Stored } from '#src/clinical/summary/source.ts';
import { readOut, type Tuple } from '../database/copy-out.ts';
import type { Queryable } from '../database/gather.ts';

/** The sizes of the first and largest blocks; each block is twice as large as the previous one. */
const BLOCK_BYTES = { first: 16 * 1024, most: 256 * 1024 } as const;

/** A row whose text is decoded each time it is read. */
export class KeptRow implements Stored {
  constructor(
    readonly type: string,
    readonly id: string,
    private readonly block: Buffer,
    private readonly from: number,
    private readonly to: number,
  ) {}

  /** Returns the row's size in bytes. */
  get bytes(): number {
    return this.to - this.from;
  }

  get body(): string {
    return this.block.toString('utf8', this.from, this.to);
  }
}

/**
 * Reads the rows of a query for type, id and body.
 * @param select as in `copyOut`.
 * @param most as in `readOut`.
 * @throws the same errors as `readOut`
 */
export function keptRows(database: Queryable, select: string, most?: number): Promise<readonly KeptRow[]> {
  let block = Buffer.alloc(0);
  let next: number = BLOCK_BYTES.first;
  let end = 0;
  const keep = ([type, id, body]: Tuple): KeptRow => {
    const text = body ?? NULL;
    if (end + text.length > block.length) {
      block = Buffer.allocUnsafeSlow(Math.max(next, text.length));
      next = Math.min(2 * next, BLOCK_BYTES.most);
      end = 0;
    }
    const from = end;
    end += text.copy(block, from);
    return new KeptRow(String(type), String(id), block, from, end);
  };
  return readOut(database, select, keep, most);
}

const NULL = Buffer.from('null');
