/** The document store as the write side uses it; `app.ts` provides it. */
import type { BlobKey } from '#src/documents/store.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

/** Reads, writes and checks content in the document store, and builds its URLs. */
export interface Contents {
  /** Stores bytes durably; leaves an existing blob unchanged. */
  readonly put: (key: BlobKey, bytes: Buffer) => Promise<void>;
  readonly remove: (key: BlobKey) => Promise<void>;
  /** Returns true if the bytes exist in the store. */
  readonly has: (key: BlobKey) => Promise<boolean>;
  /** Returns the lock to hold while stored bytes become a document's content. */
  readonly lock: (document: string) => string;
  /**
   * Returns the URL under which REST v1 serves a document's content.
   * @param blob the attachment; if absent, the document's first
   */
  readonly url: (document: string, blob?: string) => string;
}

/** Bytes that become a document's own with an append, which adds a `DocumentFinalized` to the version that shows the bytes. */
export interface Finalized {
  readonly eventId: string;
  readonly blob: string;
  readonly contentType: string;
  readonly size: number;
  /** Hex. */
  readonly sha256: string;
  /** Bytes to store before the append; absent if they are already stored. */
  readonly bytes?: Buffer;
}

/** A document that is about to be written, before its bytes are processed. */
export interface Unsettled {
  readonly id: string;
  readonly resource: JsonObject;
  /** The newest version that has a body; undefined for a new document. */
  readonly before: JsonObject | undefined;
  /** Bytes that were stored for this write. */
  readonly stored: readonly Finalized[];
  /** Draws ids for blobs and events. */
  readonly draw: (series: 'blob' | 'finalized', index: number) => string;
  readonly url: Contents['url'];
}

/** The document to write instead, and the bytes that must be stored before that. */
export interface Settled {
  readonly resource: JsonObject;
  readonly finalized: readonly Finalized[];
}
