/** `annal scavenge`: removes purged data from the files of the event store and the database. */
import { rewriteFiles, StillSeen } from '#src/database/rewrite.ts';
import { scavenge } from '#src/events/eventstoredb/scavenge.ts';
import { Unavailable } from '#src/events/store.ts';
import { eventStoreUrl, requireDatabaseUrl, withEventStore } from '../database.ts';
import { Failure } from '../failure.ts';
import type { ServiceOptions } from '../service.ts';

/** The command-line options. */
export interface ScavengeOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
}

/**
 * Scavenges the event store and the database, and prints the result. The service may be running; queries on a table wait while
 * the table is rewritten.
 * @throws Failure if either can't be found or refuses the request.
 */
export async function scavengeCommand({ json = false, ...where }: ScavengeOptions): Promise<void> {
  const databaseUrl = await requireDatabaseUrl(where);
  const eventStore = eventStoreUrl() ?? '';
  // Checks that this log belongs to the installation, and so contains the purged data.
  await withEventStore(databaseUrl, () => Promise.resolve());
  try {
    if (eventStore !== '') await scavenge(eventStore);
    const database = await rewriteFiles(databaseUrl, (table) => {
      if (!json) process.stderr.write(`rewriting ${table}\n`);
    });
    const done = {
      event_store: eventStore !== '',
      tables: database.tables,
      write_ahead_log: database.log,
    };
    process.stdout.write(`${json ? JSON.stringify(done, null, 2) : describe(done)}\n`);
  } catch (error) {
    if (error instanceof Unavailable || error instanceof StillSeen) throw new Failure(error.message);
    throw error;
  }
}

function describe(done: { event_store: boolean; tables: number; write_ahead_log: boolean }): string {
  return [
    ...(done.event_store
      ? ['The event store was scavenged. In a cluster, scavenge each of the other nodes as well.']
      : []),
    `${done.tables} tables were rewritten.`,
    done.write_ahead_log
      ? 'The write-ahead log was rewritten.'
      : 'The write-ahead log was not rewritten, because that requires a superuser. It contains the deleted data until PostgreSQL overwrites it.',
    'Backups still contain the purged data until they expire.',
  ].join('\n');
}
