/**
 * The rows of a record of which few are shown: their texts are bytes in a few pieces, each read when it is asked for. As
 * strings, or as a buffer each, thousands of them would be moved about whenever the heap is collected.
 */
import type { Stored } from '#src/fhir/ips/source.ts';
import { readOut, type Tuple } from '../copy-out.ts';
import type { Queryable } from '../gather.ts';

/** What the first block has, and the largest; each has twice what the one before had. */
const BLOCK_BYTES = { first: 16 * 1024, most: 256 * 1024 } as const;

/** A row whose text is made whenever it is read. */
export class KeptRow implements Stored {
  constructor(
    readonly type: string,
    readonly id: string,
    private readonly block: Buffer,
    private readonly from: number,
    private readonly to: number,
  ) {}

  /** Its size. */
  get bytes(): number {
    return this.to - this.from;
  }

  get body(): string {
    return this.block.toString('utf8', this.from, this.to);
  }
}

/**
 * The rows of a query for type, id and body.
 * @param select as of `copyOut`.
 * @param most as of `readOut`.
 * @throws as `readOut`
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
