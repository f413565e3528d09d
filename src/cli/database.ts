/** Finds a service's database, for commands that read the log directly. */
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { notedPositions } from '#projections/checkpoint.ts';
import { readDatabaseUrl, readEventStoreUrl } from '#src/config.ts';
import { findAnnounced } from '#src/data-dir.ts';
import { openPool } from '#src/database/pool.ts';
import { unusableDatabase } from '#src/database/unusable.ts';
import { LogClosed } from '#src/events/closed.ts';
import { logKind, openEventStore } from '#src/events/open.ts';
import { type EventStore, Unavailable } from '#src/events/store.ts';
import { assertNotMoved } from '#src/migrate-log/positions.ts';
import { assertOwnLog, ForeignLog } from '#src/operations/log-identity.ts';
import { readMark } from '#src/operations/log-mark.ts';
import { assertHolds, assertNotBehind, LogBehind } from '#src/operations/restored-log.ts';
import { Failure } from './failure.ts';
import { findDataDir, type ServiceOptions } from './service.ts';

/**
 * Returns `DATABASE_URL`, otherwise the database announced by the service that runs on DATA_DIR; undefined if there is
 * neither. If EVENTSTORE_URL isn't set, the EventStoreDB that the service announced is used too.
 */
export async function findDatabaseUrl(
  options: Pick<ServiceOptions, 'dataDir'> = {},
): Promise<string | undefined> {
  const given = readDatabaseUrl(process.env);
  if (given !== undefined) return given;
  const found = await findAnnounced(findDataDir(options));
  if (found?.event_store !== undefined && eventStoreUrl() === undefined)
    process.env.EVENTSTORE_URL = found.event_store;
  return found?.url;
}

/** Returns the location of the event log according to the settings, as `readEventStoreUrl` does. */
export function eventStoreUrl(): string | undefined {
  return readEventStoreUrl(process.env);
}

/**
 * Returns the database that `findDatabaseUrl` finds, for commands that require one.
 * @throws Failure if there is none.
 */
export async function requireDatabaseUrl(options: Pick<ServiceOptions, 'dataDir'> = {}): Promise<string> {
  const found = await findDatabaseUrl(options);
  if (found !== undefined) return found;
  throw new Failure(
    `no service is running on ${findDataDir(options)}; start it with \`npm start\`, or set DATA_DIR (or DATABASE_URL, if you use your own database)`,
  );
}

/**
 * Opens the log (EVENTSTORE_URL, otherwise the log in the database), checks that it belongs to the database, runs `work` and
 * closes the log.
 * @param onForeign handles a log whose first event is different. Default: refuse the log.
 * @throws Failure if the log can't be reached, is a different log, or was moved; rethrows errors from `work`.
 */
export async function withEventStore<T>(
  url: string,
  work: (store: EventStore) => Promise<T>,
  onForeign: (error: ForeignLog) => void = refuse,
): Promise<T> {
  let store: EventStore | undefined;
  try {
    store = await openEventStore({ url, eventStoreUrl: eventStoreUrl() });
    const opened = store;
    await onDatabase(url, (client) => assertInstallations(client, url, opened)).catch((error: unknown) => {
      if (!(error instanceof ForeignLog) || error.first === undefined) throw error;
      onForeign(error);
    });
    return await work(opened);
  } catch (error) {
    if (error instanceof Unavailable)
      throw new Failure(
        unusableLog(error) ?? `cannot reach the event store: ${error.message}`,
        1,
        'interrupted',
      );
    if ([ForeignLog, LogClosed, LogBehind].some((kind) => error instanceof kind))
      throw new Failure((error as Error).message);
    throw error;
  } finally {
    await store?.close();
  }
}

/**
 * Opens the log like `withEventStore`, for commands that must not mistake a truncated log for a complete one.
 * @throws Failure also if the log ends before the events from which existing data was derived.
 */
export async function withWholeLog<T>(url: string, work: (store: EventStore) => Promise<T>): Promise<T> {
  return withEventStore(url, async (store) => {
    const names = PROJECTIONS.map(({ name }) => name);
    await onDatabase(url, async (client) => {
      await assertNotBehind(store, await notedPositions(client, names));
      const mark = await readMark(client);
      if (mark !== undefined) await assertHolds(store, mark);
    });
    return work(store);
  });
}

/** Returns the error message if the log is in the database that DATABASE_URL names; otherwise undefined. */
function unusableLog({ cause }: Unavailable): string | undefined {
  return readDatabaseUrl(process.env) && !eventStoreUrl() ? unusableDatabase(cause) : undefined;
}

function refuse(error: ForeignLog): never {
  throw error;
}

async function assertInstallations(client: Pool, url: string, store: EventStore): Promise<void> {
  const kind = logKind({ url, eventStoreUrl: eventStoreUrl() });
  await assertNotMoved(client, kind === 'postgresql');
  await assertOwnLog({ client, store, kind });
}

async function onDatabase(url: string, work: (client: Pool) => Promise<void>): Promise<void> {
  const pool = openPool(url, { max: 1, name: 'annal log identity' });
  try {
    await work(pool);
  } finally {
    await pool.end();
  }
}
