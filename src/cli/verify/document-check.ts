/** Checks documents, for `annal verify`. */
import { loadConfig } from '#src/config.ts';
import { DocumentCheck } from '#src/documents/check.ts';
import { openDocumentStore } from '#src/documents/open.ts';
import type { DocumentStore } from '#src/documents/store.ts';
import type { EventStore } from '#src/events/store.ts';
import { findDataDir, type ServiceOptions } from '../service.ts';

/** The maximum number of faults that are listed. */
const NAMED = 1_000;

/** Opens the document store of the service on a DATA_DIR, or the store that the environment names. */
export async function openCheck(
  store: EventStore,
  where: Pick<ServiceOptions, 'dataDir'>,
): Promise<{ readonly documentStore: DocumentStore; readonly check: DocumentCheck }> {
  const { documentsBucket } = loadConfig(process.env);
  const documentStore = await openDocumentStore(findDataDir(where), documentsBucket);
  return { documentStore, check: new DocumentCheck(documentStore, store, NAMED) };
}
