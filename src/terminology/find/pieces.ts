/** Stores the bytes of an index as rows in `terminology.code_index`, so that the bytes are never in memory twice. */
import type { ClientBase } from 'pg';

/** Approximate number of bytes per row. */
const PIECE = 1 << 20;

/** A part of an index that is being written. */
export interface Part {
  /** Adds bytes, or numbers as they are represented in memory. */
  append(bytes: Uint8Array | Uint32Array): void;
  /** Writes the collected bytes if they fill a row; with `all`, also writes those that remain. */
  write(all?: 'all'): Promise<void>;
}

/**
 * Begins a part of a code system's index.
 * @param system the system's number
 */
export function writePart(tx: ClientBase, system: number, part: string): Part {
  let gathered: Buffer[] = [];
  let length = 0;
  let piece = 0;
  return {
    append(bytes) {
      gathered.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
      length += bytes.byteLength;
    },
    async write(all) {
      if (length === 0 || (length < PIECE && all === undefined)) return;
      const bytes = Buffer.concat(gathered);
      gathered = [];
      length = 0;
      for (let at = 0; at < bytes.length; at += PIECE) {
        await tx.query(
          'insert into terminology.code_index (system, part, piece, bytes) values ($1, $2, $3, $4)',
          [system, part, piece, bytes.subarray(at, at + PIECE)],
        );
        piece += 1;
      }
    },
  };
}

/** Returns the parts of a code system's index, by name; undefined if the index doesn't exist. */
export async function readParts(
  tx: ClientBase,
  system: number,
): Promise<((part: string) => ArrayBuffer) | undefined> {
  const { rows } = await tx.query<{ part: string; pieces: number; length: number }>(
    `select i.part, count(*)::int as pieces, sum(length(i.bytes))::int as length
     from terminology.code_index i where i.system = $1 group by i.part`,
    [system],
  );
  if (rows.length === 0) return undefined;
  const parts = new Map<string, ArrayBuffer>();
  for (const { part, pieces, length } of rows) {
    const bytes = new Uint8Array(length);
    let at = 0;
    for (let piece = 0; piece < pieces; piece += 1) {
      const read = await tx.query<{ bytes: Buffer }>(
        'select i.bytes from terminology.code_index i where i.system = $1 and i.part = $2 and i.piece = $3',
        [system, part, piece],
      );
      for (const row of read.rows) {
        bytes.set(row.bytes, at);
        at += row.bytes.length;
      }
    }
    parts.set(part, bytes.buffer);
  }
  return (part) => parts.get(part) ?? new ArrayBuffer(0);
}
