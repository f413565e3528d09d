/**
 * The rows of a record of which few are shown: their texts are bytes in a few pieces, each read when it is asked for. As
 * strings, or as a buffer each, thousands of them would be moved about whenever the heap is collected.
 */
import type { Stored } from '#src/fhir/ips/source.ts';
import { readOut, type Tuple } from '../copy-out.ts';
import type { Queryable } from '../gather.ts';

const BLOCK_BYTES = 256 * 1024;

/** A row whose text is made whenever it is read. */
class KeptRow implements Stored {
  constructor(
    readonly type: string,
    readonly id: string,
    private readonly block: Buffer,
    private readonly from: number,
    private readonly to: number,
  ) {}

  get body(): string {
    return this.block.toString('utf8', this.from, this.to);
  }
}

/** The rows of a query for type, id and body. @param select as of `copyOut` */
export function keptRows(database: Queryable, select: string): Promise<readonly Stored[]> {
  let block = Buffer.allocUnsafe(BLOCK_BYTES);
  let end = 0;
  return readOut(database, select, ([type, id, body]: Tuple) => {
    const text = body ?? NULL;
    if (end + text.length > block.length) {
      block = Buffer.allocUnsafe(Math.max(BLOCK_BYTES, text.length));
      end = 0;
    }
    const from = end;
    end += text.copy(block, from);
    return new KeptRow(String(type), String(id), block, from, end);
  });
}

const NULL = Buffer.from('null');
