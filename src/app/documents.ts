/** Assembles the storage for documents' bytes: the store, its interface for writes, and the removal of unreferenced bytes. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Contents } from '#commands/resource/contents.ts';
import { openShownBlobs } from '#queries/rest/document-blobs.ts';
import { type FindSlot, openFindSlot } from '#queries/rest/document-slot.ts';
import type { Config } from '../config.ts';
import { openDocumentStore } from '../documents/open.ts';
import { BlobExists, type DocumentStore, lockName } from '../documents/store.ts';
import { type SweepDeps, sweepDocuments } from '../documents/sweep.ts';
import type { EventStore } from '../events/store.ts';
import { Erasing } from '../operations/erasing.ts';
import { installationKey } from '../operations/installation-key.ts';
import { tryToLead } from '../processes/lead.ts';

/** The parts of document storage. */
export interface Documents {
  readonly store: DocumentStore;
  readonly key: Buffer;
  readonly findSlot: FindSlot;
  /** Returns whether a record is being purged: if so, its bytes are deleted before its documents. */
  readonly isErasing: (record: string) => Promise<boolean>;
  readonly contents: Contents;
  /** Begins to sweep. */
  start(): void;
  close(): void;
}

/** How often unused bytes are deleted, in ms. */
const SWEEP_MS = 60 * 60_000;
/**
 * How long bytes may exist without an event that names them, in ms. As long as its Idempotency-Key is valid, a retry uses the
 * bytes from the first attempt.
 */
const GRACE_MS = 2 * 24 * 60 * 60_000;
/** How long the session of the instance that deletes unused bytes may be idle before another instance takes over, in ms. */
const HUNG_MS = 6_000;

/** Opens them. */
export async function openDocuments({
  config,
  pool,
  databaseUrl,
  log,
  events,
  locks,
}: {
  readonly config: Pick<Config, 'baseUrl' | 'dataDir' | 'documentsBucket'>;
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly log: Logger;
  readonly events: Pick<EventStore, 'read'>;
  /** The service-wide locks, which finalizing a document takes too. */
  readonly locks: SweepDeps['locks'];
}): Promise<Documents> {
  const store = await openDocumentStore(config.dataDir, config.documentsBucket);
  const shown = openShownBlobs(pool);
  const erasing = new Erasing(pool);
  let sweeping: NodeJS.Timeout | undefined;
  const sweep = async (): Promise<void> => {
    const lead = await tryToLead({
      databaseUrl,
      name: 'documents',
      hungMs: HUNG_MS,
      onAsked: () => undefined,
    });
    if (lead === undefined) return;
    try {
      const before = new Date(Date.now() - GRACE_MS);
      const removed = await Promise.race([
        sweepDocuments({ store, log: events, locks, findShown: shown }, before),
        lead.lost,
      ]);
      if (removed > 0) log.info({ removed }, 'removed document content that no event refers to');
    } finally {
      lead.release();
    }
  };
  return {
    store,
    key: await installationKey(pool, 'document_key'),
    findSlot: openFindSlot(pool),
    isErasing: async (record) => (await erasing.kept(record)) !== undefined,
    contents: {
      put: (key, bytes) =>
        store.put(key, once(bytes)).catch((error: unknown) => {
          // An earlier attempt wrote the bytes, because the same bytes always get the same name.
          if (!(error instanceof BlobExists)) throw error;
        }),
      remove: (key) => store.remove(key),
      has: async (key) => (await store.size(key)) !== undefined,
      lock: lockName,
      url: (document, blob) =>
        `${config.baseUrl}/v1/documents/${document}/content${blob === undefined ? '' : `?attachment=${blob}`}`,
    },
    start() {
      sweeping ??= setInterval(() => {
        sweep().catch((error: unknown) =>
          log.warn(
            { err: error },
            'the search for document content that no event refers to failed; it will be repeated',
          ),
        );
      }, SWEEP_MS).unref();
    },
    close() {
      clearInterval(sweeping);
      store.close();
    },
  };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
