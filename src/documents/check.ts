/** Checks, as part of `annal verify`, that the bytes of every document that an event names still exist unchanged. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { Digest } from './digest.ts';
import { type BlobKey, BlobMissing, type DocumentStore } from './store.ts';

/** A document whose bytes are missing or changed. */
export interface DocumentFault extends BlobKey {
  readonly what: 'missing' | 'altered';
  /** The event that names the bytes. */
  readonly event: string;
  readonly message: string;
}

/** Compares the bytes of documents with their `DocumentFinalized` events. */
export class DocumentCheck {
  readonly faults: DocumentFault[] = [];
  /** Number of documents checked. */
  documents = 0;

  /** @param limit the maximum number of faults listed */
  constructor(
    readonly store: Pick<DocumentStore, 'get'>,
    readonly log: Pick<EventStore, 'read'>,
    readonly limit: number,
  ) {}

  /**
   * Checks the documents that events finalize, one after another.
   * @throws Refusal unavailable if the store can't be reached
   */
  async check(events: readonly StoredEvent[]): Promise<void> {
    for (const { id, event } of events) {
      if (event.type !== 'DocumentFinalized') continue;
      const { patient, id: document, blob, size, sha256 } = event.data;
      const message = await this.#fault({ patient, document, blob }, { size, sha256 });
      this.documents += 1;
      if (message === undefined || this.faults.length >= this.limit) continue;
      const what = message === MISSING ? 'missing' : 'altered';
      this.faults.push({ what, patient, document, blob, event: id, message });
    }
  }

  /** Finishes the check. A purge removes bytes before events, so documents that were purged during the check aren't faults. */
  async end(): Promise<readonly DocumentFault[]> {
    const gone = new Set<string>();
    for (const patient of new Set(this.faults.map((fault) => fault.patient)))
      if (await this.#isErased(patient)) gone.add(patient);
    return this.faults.filter(({ patient }) => !gone.has(patient));
  }

  async #fault(
    key: BlobKey,
    said: { readonly size: number; readonly sha256: string },
  ): Promise<string | undefined> {
    const digest = new Digest(Number.POSITIVE_INFINITY);
    try {
      const chunks: AsyncIterable<Buffer> = await this.store.get(key);
      for await (const chunk of chunks) digest.update(chunk);
    } catch (error) {
      if (error instanceof BlobMissing) return MISSING;
      throw error;
    }
    const { size, sha256 } = digest.end();
    if (size !== said.size) return `${size} bytes, but the event says ${said.size}`;
    return sha256 === said.sha256 ? undefined : `SHA-256 ${sha256}, but the event says ${said.sha256}`;
  }

  async #isErased(patient: string): Promise<boolean> {
    try {
      for await (const _ of this.log.read(recordStream(patient), { limit: 1 })) return false;
      return true;
    } catch (error) {
      if (error instanceof StreamDeleted) return true;
      throw error;
    }
  }
}

const MISSING = 'the document store lacks the content';
