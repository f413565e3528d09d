/**
 * Reads a file's lines, one at a time. Only a line feed ends a line, whereas `node:readline` would also split at U+2028, which
 * JSON strings may contain (RFC 8259, section 7).
 */
import { createReadStream } from 'node:fs';

/** A line of a file. */
export interface Line {
  /** Starts at 1. */
  readonly number: number;
  /** The line without its line end; undefined if its bytes aren't UTF-8. */
  readonly text: string | undefined;
}

/** Yields the lines of a UTF-8 file; skips a byte order mark at its start. */
export function readLines(path: string): AsyncGenerator<Line> {
  return linesIn(createReadStream(path, { highWaterMark: 1 << 18 }));
}

/** Yields the lines of UTF-8 bytes that arrive in pieces. */
export async function* linesIn(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line> {
  let number = 0;
  let parts: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, start)) {
      parts.push(chunk.subarray(start, end));
      number += 1;
      yield { number, text: decodeUtf8(parts.length === 1 ? (parts[0] ?? chunk) : Buffer.concat(parts)) };
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) yield { number: number + 1, text: decodeUtf8(Buffer.concat(parts)) };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** Decodes UTF-8 without a byte order mark; returns undefined if the bytes aren't UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}
