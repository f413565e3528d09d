/** Opens an installation's event store: EventStoreDB if configured, otherwise the log in PostgreSQL. */
import { LogClosed } from './closed.ts';
import { isClosed } from './postgres/closing.ts';
import { PostgresEventStore } from './postgres/store.ts';
import type { EventStore, WrittenBatch } from './store.ts';

/** The event store's settings. */
export interface OpenOptions {
  /** The database's `postgres://…` URL. This database contains the log unless `eventStoreUrl` names another one. */
  readonly url: string;
  /** `esdb://…`, or `postgres://…` for a log in a different database. If undefined or empty, the log is in the database. */
  readonly eventStoreUrl?: string | undefined;
  /** Logs lost connections; may be a pino logger. */
  readonly log?: { warn(details: object, message: string): void };
  /** Called with the number of appends in each acknowledged batch. */
  readonly onBatch?: (appends: number) => void;
  /** With PostgreSQL: called with each batch that this process wrote, for other processes on this machine. */
  readonly onWritten?: ((batch: WrittenBatch) => void) | undefined;
  /** With EventStoreDB: called with each append that is received, regardless of which process wrote it. */
  readonly onHeard?: ((batch: WrittenBatch) => void) | undefined;
  /** True if other processes on this machine hand over the batches that they write (`receive`). Default: false. */
  readonly hasPeers?: boolean;
  /** Called when the subscription that follows EventStoreDB begins or resumes, and each time it fails. */
  readonly onFollowing?: (follows: boolean) => void;
  /** Called once if a log in EventStoreDB is closed while this process is using it. */
  readonly onClosed?: (error: LogClosed) => void;
}

/** Returns true if a URL refers to PostgreSQL. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

/** The kinds of event stores. */
export type LogKind = 'postgresql' | 'eventstoredb';

/** Returns the kind of log that the settings name. */
export function logKind({ url, eventStoreUrl }: Pick<OpenOptions, 'url' | 'eventStoreUrl'>): LogKind {
  return isPostgres(eventStoreUrl || url) ? 'postgresql' : 'eventstoredb';
}

/**
 * Opens the event store.
 * @throws Unavailable if it can't be reached; LogClosed if the log was moved or is about to be moved.
 */
export async function openEventStore({
  url,
  eventStoreUrl = '',
  ...options
}: OpenOptions): Promise<EventStore> {
  const own = eventStoreUrl === '' ? url : eventStoreUrl;
  if (!isPostgres(own)) {
    // Loaded only when needed, because loading the client takes a tenth of the startup time.
    const { EventStoreDbStore } = await import('./eventstoredb/store.ts');
    return EventStoreDbStore.open({ url: own, ...options });
  }
  const store = await PostgresEventStore.open({ url: own, ...options });
  if (!(await isClosed(own))) return store;
  await store.close();
  throw new LogClosed();
}
