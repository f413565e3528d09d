/** What the write side asks of the document store; `app.ts` hands it in. */
import type { BlobKey } from '#src/documents/store.ts';

/** The store, and the URLs of what is in it. */
export interface Contents {
  /** Stores bytes durably; a blob that is there already stays as it is. */
  readonly put: (key: BlobKey, bytes: Buffer) => Promise<void>;
  readonly remove: (key: BlobKey) => Promise<void>;
  /** Whether bytes are there. */
  readonly has: (key: BlobKey) => Promise<boolean>;
  /** The lock under which stored bytes become a document's content. */
  readonly lock: (document: string) => string;
  /** Where REST v1 serves a document's content. @param blob of an attachment that is not the document's first */
  readonly url: (document: string, blob?: string) => string;
}

/** Bytes that an append makes a document's own: a `DocumentFinalized` beside the version that shows them. */
export interface Finalized {
  readonly eventId: string;
  readonly blob: string;
  readonly contentType: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Still to be stored before the append; absent when they are. */
  readonly bytes?: Buffer;
}
