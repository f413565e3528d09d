/**
 * Stores documents in a folder: `<patient>/<document>/<blob>`. A blob is written to a temporary file, synced, and then linked
 * into place, so that a crash leaves either the whole blob or a `.part` file, which is removed later (`sweep.ts`).
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { DiskFull, isFull } from '#src/shared/load/full-disks.ts';
import { unavailable } from '#src/shared/refusal.ts';
import {
  BlobExists,
  type BlobKey,
  BlobMissing,
  type ByteRange,
  type DocumentStore,
  type ListedBlob,
} from './store.ts';

/** Matches names that are safe in paths. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,150}$/;
/** How often writing to a folder is attempted, because a concurrent removal may delete the folder while it is empty. */
const TRIES = 5;

/**
 * The adapter for a folder.
 * @param folder created when it is first written to
 */
export class DiskStore implements DocumentStore {
  constructor(readonly folder: string) {}

  async put(key: BlobKey, source: AsyncIterable<Buffer>): Promise<void> {
    const place = this.#place(key);
    const part = `${place}.${randomUUID()}.part`;
    const file = await this.#create(part);
    try {
      try {
        for await (const chunk of source) await file.writeFile(chunk);
        await file.sync();
      } finally {
        await file.close();
      }
      await link(part, place);
    } catch (error) {
      // A purge also removes the folder; a retry then finds that the document no longer exists.
      if (errorCode(error) === 'ENOENT') throw unavailable('the content was removed during the upload', 1);
      if (errorCode(error) === 'EEXIST') throw new BlobExists(`${key.document} has ${key.blob}`);
      throw full(error);
    } finally {
      await rm(part, { force: true });
    }
    await syncFolder(dirname(place));
  }

  async get(key: BlobKey, range?: ByteRange): Promise<Readable> {
    const file = await open(this.#place(key), 'r').catch((error: unknown) => {
      throw errorCode(error) === 'ENOENT' ? new BlobMissing(key) : error;
    });
    return file.createReadStream(range);
  }

  async size(key: BlobKey): Promise<number | undefined> {
    try {
      return (await stat(this.#place(key))).size;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(key: BlobKey): Promise<void> {
    const place = this.#place(key);
    await rm(place, { force: true });
    // Fails for folders that aren't empty, which are kept.
    await rmdir(dirname(place))
      .then(() => rmdir(dirname(dirname(place))))
      .catch(() => undefined);
  }

  async removeRecord(patient: string): Promise<void> {
    await rm(join(this.folder, requireName(patient)), { recursive: true, force: true, maxRetries: TRIES });
  }

  async *list(): AsyncGenerator<ListedBlob> {
    for (const patient of await namesIn(this.folder)) {
      for (const document of await namesIn(join(this.folder, patient))) {
        for (const blob of await namesIn(join(this.folder, patient, document))) {
          const there = await stat(join(this.folder, patient, document, blob)).catch(() => undefined);
          if (there !== undefined)
            yield { patient, document, blob, modified: there.mtime, bytes: there.size };
        }
      }
    }
  }

  /** Does nothing, because unfinished files are listed as `.part`. */
  async removeUnfinished(): Promise<void> {}

  async upload(): Promise<undefined> {
    return undefined;
  }

  async download(): Promise<undefined> {
    return undefined;
  }

  close(): void {}

  #place({ patient, document, blob }: BlobKey): string {
    return join(this.folder, requireName(patient), requireName(document), requireName(blob));
  }

  async #create(file: string): Promise<FileHandle> {
    for (let tries = 1; ; tries += 1) {
      try {
        const made = await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        if (made !== undefined) await syncAbove(dirname(file), made);
        return await open(file, 'wx', 0o600);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw full(error);
        // Creating a folder can fail for other reasons too, such as a full disk.
        if (tries === TRIES) throw unavailable('cannot write to the document store', 60);
      }
    }
  }
}

function requireName(name: string): string {
  if (NAME.test(name)) return name;
  throw new TypeError(`${name.slice(0, 200)} is not a valid name of a document's content`);
}

async function namesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  });
  return names.filter((name) => NAME.test(name));
}

/**
 * Syncs every folder in which a folder was created.
 * @param made the first new folder, which is either `folder` itself or above it
 */
async function syncAbove(folder: string, made: string): Promise<void> {
  for (let above = dirname(folder); above.length >= dirname(made).length; above = dirname(above))
    await syncFolder(above);
}

/** Syncs a folder, so that a new name in it survives a crash. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Replaces an error about a full disk with an error that names the document store. */
function full(error: unknown): unknown {
  return isFull(errorCode(error)) ? new DiskFull('the document store', { cause: error }) : error;
}
