/**
 * The document store port. Bytes of documents aren't events. It has two adapters, a folder (`disk.ts`) and a bucket
 * (`s3.ts`). A blob never changes: it exists completely or not at all.
 */
import type { Readable } from 'node:stream';

/** The location of a blob: its patient's record and its document. Each upload has its own name. */
export interface BlobKey {
  /** Id of the Patient. */
  readonly patient: string;
  /** Id of the DocumentReference. */
  readonly document: string;
  readonly blob: string;
}

/** The blob of a direct upload: there is one of a document at most. */
export const DIRECT = 'direct';

/**
 * Returns the lock of a document's bytes. It is held while an event that names them is appended, and while unnamed
 * bytes are looked for and removed.
 */
export function lockName(document: string): string {
  return `document/${document}`;
}

/** A blob as a listing shows it. */
export interface ListedBlob extends BlobKey {
  readonly modified: Date;
  /** Size in bytes. */
  readonly bytes: number;
}

/** Bytes from `start` to `end`, both included. */
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

/** Headers of a direct download from the store. */
export interface DirectDownload {
  readonly contentType: string;
  /** `Content-Disposition` of the answer. */
  readonly disposition: string;
  readonly expiresInSeconds: number;
}

/** The port. Every method may reject with Refusal unavailable (503) if the store can't be reached. */
export interface DocumentStore {
  /**
   * Stores a blob durably, all or nothing. Errors of `source` are passed on.
   * @throws BlobExists if the name exists; that blob stays unchanged
   */
  put(key: BlobKey, source: AsyncIterable<Buffer>): Promise<void>;
  /**
   * Returns the bytes of a blob, or a range of them.
   * @throws BlobMissing
   */
  get(key: BlobKey, range?: ByteRange): Promise<Readable>;
  /** Returns the size of a blob in bytes; undefined if it doesn't exist. */
  size(key: BlobKey): Promise<number | undefined>;
  /** Removes a blob, if it exists. */
  remove(key: BlobKey): Promise<void>;
  /** Removes every blob of a record. */
  removeRecord(patient: string): Promise<void>;
  /** Lists every blob, leftovers of broken uploads included. */
  list(): AsyncIterable<ListedBlob>;
  /** Removes the unlisted parts of uploads that began before a moment and never ended. */
  removeUnfinished(before: Date): Promise<void>;
  /** Returns where a client may upload a blob directly, once; undefined if it must go through the service. */
  upload(key: BlobKey, contentType: string, expiresInSeconds: number): Promise<DirectUpload | undefined>;
  /** Returns a temporary URL for a direct download; undefined if it must go through the service. */
  download(key: BlobKey, told: DirectDownload): Promise<string | undefined>;
  /** Lets go of connections. */
  close(): void;
}

/** There is a blob of that name already. */
export class BlobExists extends Error {
  override readonly name = 'BlobExists';
}

/** A blob that should be there is not. */
export class BlobMissing extends Error {
  override readonly name = 'BlobMissing';
  constructor({ patient, document, blob }: BlobKey, options?: ErrorOptions) {
    super(`the document store has no ${patient}/${document}/${blob}`, options);
  }
}
