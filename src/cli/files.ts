/** Writes and reads the files of commands: a new file is readable only by its owner; a `.gz` file is compressed. */
import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { isFull } from '#src/shared/load/full-disks.ts';
import { Failure } from './failure.ts';
import { linesIn } from './import/lines.ts';

/**
 * Writes a new file; deletes it if it can't be completed.
 * @throws Failure if the file already exists or can't be written; rethrows errors from `texts`.
 */
export async function writeNewFile(
  path: string,
  texts: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  const handle = await create(path);
  try {
    const file = createWriteStream(path, { fd: handle, flush: true });
    const from = Readable.from(inPieces(texts));
    await (path.endsWith('.gz') ? pipeline(from, createGzip(), file) : pipeline(from, file));
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof Error && 'code' in error && isFull(String(error.code)))
      throw new Failure(`${path} cannot be written: ${error.message}`);
    throw error;
  }
}

/**
 * Checks that a file can be created, so that long work doesn't begin in vain. Leaves no file behind.
 * @throws Failure if the file already exists or can't be created.
 */
export async function requireCreatable(path: string): Promise<void> {
  const handle = await create(path);
  await handle.close();
  await rm(path);
}

function create(path: string): Promise<FileHandle> {
  return open(path, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') throw new Failure(`${path} already exists; choose another name`);
    throw new Failure(`${path} cannot be written: ${error.message}`);
  });
}

const PIECE = 1 << 16;

/** Joins text into pieces that are large enough to compress and write efficiently. */
async function* inPieces(texts: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

/**
 * Yields the lines of a text file, compressed or not, without line ends; undefined for a line that isn't UTF-8.
 * @throws Failure if the file can't be read.
 */
export async function* linesOfFile(path: string): AsyncGenerator<string | undefined> {
  try {
    const compressed = await isGzip(path);
    const plain = createReadStream(path, { highWaterMark: 1 << 18 });
    const chunks = compressed ? plain.compose<NodeJS.ReadWriteStream>(createGunzip()) : plain;
    for await (const { text } of linesIn(chunks as AsyncIterable<Buffer>)) yield text;
  } catch (error) {
    if (error instanceof Error && 'code' in error)
      throw new Failure(`${path} cannot be read: ${error.message}`);
    throw error;
  }
}

/** Returns true if a file starts with gzip's magic bytes (RFC 1952, section 2.3.1), regardless of its name. */
async function isGzip(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE() === 0x1f8b;
  } finally {
    await file.close();
  }
}
