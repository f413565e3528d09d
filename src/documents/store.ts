/**
 * The document store port: bytes of documents, which are no events. Two adapters keep its promises, a folder (`disk.ts`)
 * and a bucket (`s3.ts`). A blob never changes: it is there whole or not at all.
 */
import type { Readable } from 'node:stream';

/** Where a blob is: in its patient's record, beneath its document. Each upload has a name of its own. */
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
 * The lock of a document's bytes: who makes stored ones its content holds it while the event is appended, who removes ones
 * that no event names holds it while it looks and removes.
 */
export function lockOf(document: string): string {
  return `document/${document}`;
}

/** A blob as a listing shows it. */
export interface ListedBlob extends BlobKey {
  readonly modified: Date;
}

/** Bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** How a client sends bytes to the store without the service between. */
export interface DirectUpload {
  readonly url: string;
  /** That the request must have. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a client is told of a blob that it fetches from the store without the service between. */
export interface DirectDownload {
  readonly contentType: string;
  /** `Content-Disposition` of the answer. */
  readonly disposition: string;
  readonly expiresInSeconds: number;
}

/** The port. Every method may reject with Refusal unavailable (503) when the store is away. */
export interface DocumentStore {
  /**
   * Stores a blob durably; whatever goes wrong, nothing of it is found. What `source` throws is passed on.
   * @throws BlobExists when there is one of that name, which stays as it is.
   */
  put(key: BlobKey, source: AsyncIterable<Buffer>): Promise<void>;
  /** The bytes of a blob, or a range within them. @throws BlobMissing */
  get(key: BlobKey, range?: ByteRange): Promise<Readable>;
  /** How many bytes a blob has; undefined when there is none. */
  size(key: BlobKey): Promise<number | undefined>;
  /** Removes a blob, if it is there. */
  remove(key: BlobKey): Promise<void>;
  /** Removes every blob of a record. */
  removeRecord(patient: string): Promise<void>;
  /** Every blob, also what uploads that broke off have left. */
  list(): AsyncIterable<ListedBlob>;
  /** Removes what uploads that began before a moment and never ended hold without being listed. */
  removeUnfinished(before: Date): Promise<void>;
  /** Where a client may store a blob itself, once; undefined where the service takes it. */
  upload(key: BlobKey, contentType: string, expiresInSeconds: number): Promise<DirectUpload | undefined>;
  /** URL that a client may fetch a blob from itself, for a while; undefined where the service gives it. */
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
