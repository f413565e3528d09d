/** The database of a service, for commands that read the log itself. */
import { findDatabase } from '#src/data-dir.ts';
import { openEventStore } from '#src/events/open.ts';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import { Failure } from './failure.ts';
import { dataDirOf, type ServiceOptions } from './service.ts';

/**
 * `DATABASE_URL`, else the database that the service running on DATA_DIR has announced.
 * @throws Failure when there is neither.
 */
export async function databaseUrlOf(options: Pick<ServiceOptions, 'dataDir'> = {}): Promise<string> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined && given !== '') return given;
  const dataDir = dataDirOf(options);
  const found = await findDatabase(dataDir);
  if (found !== undefined) return found;
  throw new Failure(
    `no service runs on ${dataDir}: start it with \`npm start\` (or set DATA_DIR, or DATABASE_URL for a database of your own)`,
  );
}

/**
 * Opens the log (EVENTSTORE_URL, else in the database), does something with it and closes it again.
 * @throws Failure when it cannot be reached; what `work` throws.
 */
export async function withEventStore<T>(url: string, work: (store: EventStore) => Promise<T>): Promise<T> {
  let store: EventStore | undefined;
  try {
    store = await openEventStore({ url, eventStoreUrl: process.env.EVENTSTORE_URL });
    return await work(store);
  } catch (error) {
    if (error instanceof Unavailable)
      throw new Failure(`the event store cannot be reached: ${error.message}`);
    throw error;
  } finally {
    await store?.close();
  }
}
