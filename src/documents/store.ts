/**
 * Defines the document store port. The bytes of documents aren't events. There are two adapters, a folder (`disk.ts`) and a
 * bucket (`s3.ts`). A blob never changes: it exists completely or not at all.
 */
import type { Readable } from 'node:stream';

/** The location of a blob: its patient's record, its document, and a name that is different for each upload. */
export interface BlobKey {
  /** Id of the Patient. */
  readonly patient: string;
  /** Id of the DocumentReference. */
  readonly document: string;
  readonly blob: string;
}

/** The name of a directly uploaded blob; a document has at most one such blob. */
export const DIRECT = 'direct';

/**
 * Returns the name of the lock for a document's bytes. The lock is held while an event that names the bytes is appended, and
 * while unnamed bytes are being found and removed.
 */
export function lockName(document: string): string {
  return `document/${document}`;
}

/** A blob in a listing. */
export interface ListedBlob extends BlobKey {
  readonly modified: Date;
  /** Size in bytes. */
  readonly bytes: number;
}

/** The bytes from `start` to `end`, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Instructions for a client that uploads bytes directly to the store. */
export interface DirectUpload {
  readonly url: string;
  /** Headers that the request must have. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers for a direct download from the store. */
export interface DirectDownload {
  readonly contentType: string;
  /** The response's `Content-Disposition`. */
  readonly disposition: string;
  readonly expiresInSeconds: number;
}

/** The port. Every method may reject with Refusal unavailable (503) if the store can't be reached. */
export interface DocumentStore {
  /**
   * Stores a blob durably and atomically. Rethrows errors from `source`.
   * @throws BlobExists if the name is taken; the existing blob stays unchanged
   */
  put(key: BlobKey, source: AsyncIterable<Buffer>): Promise<void>;
  /**
   * Returns a blob's bytes, or a range of them.
   * @throws BlobMissing
   */
  get(key: BlobKey, range?: ByteRange): Promise<Readable>;
  /** Returns a blob's size in bytes; undefined if it doesn't exist. */
  size(key: BlobKey): Promise<number | undefined>;
  /** Removes a blob, if it exists. */
  remove(key: BlobKey): Promise<void>;
  /** Removes all of a record's blobs. */
  removeRecord(patient: string): Promise<void>;
  /** Lists every blob, including leftovers from broken uploads. */
  list(): AsyncIterable<ListedBlob>;
  /** Removes the parts, which aren't listed, of uploads that began before a given time and never finished. */
  removeUnfinished(before: Date): Promise<void>;
  /** Returns where a client may upload a blob directly, once; undefined if the upload must go through the service. */
  upload(key: BlobKey, contentType: string, expiresInSeconds: number): Promise<DirectUpload | undefined>;
  /** Returns a temporary URL for a direct download; undefined if the download must go through the service. */
  download(key: BlobKey, told: DirectDownload): Promise<string | undefined>;
  /** Closes the connections. */
  close(): void;
}

/** Thrown when a blob with this name already exists. */
export class BlobExists extends Error {
  override readonly name = 'BlobExists';
}

/** Thrown when a blob that should exist is missing. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  constructor({ patient, document, blob }: BlobKey, options?: ErrorOptions) {
    super(`the document store has no ${patient}/${document}/${blob}`, options);
  }
}
