/**
 * Identifies the log that contains an installation's events. Followers can't tell two logs apart, and an installation on
 * EventStoreDB also has an empty log in its database. The database therefore stores the kind of store and the first event that
 * is never erased (`first.ts`). When a log is opened, it is compared with these before anything else happens.
 */
import type pg from 'pg';
import { firstEvent } from '../events/first.ts';
import type { LogKind } from '../events/open.ts';
import type { EventStore, RecordedEvent } from '../events/store.ts';

/** DDL: at most one row. */
export const LOG_IDENTITY_SQL = `
CREATE TABLE operations.log_identity (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  kind text NOT NULL,
  first_event uuid NOT NULL
);`;

/** Thrown if the log that the settings name is not the one that the database belongs to. */
export class ForeignLog extends Error {
  override readonly name = 'ForeignLog';
  /**
   * @param found the problem, as the rest of "the settings name a log"
   * @param first the log's first event, if nothing else differs: the log may be a different log, or its beginning may have
   *   been altered
   */
  constructor(
    noted: string,
    found: string,
    readonly first?: RecordedEvent,
  ) {
    super(
      `the events of this installation are in ${logName(noted)}, but the settings name a log ${found}. Nothing was ` +
        "changed. Set EVENTSTORE_URL as it was (empty: the log in the service's own database), or correct DATABASE_URL; " +
        'see docs/backup.md',
    );
  }
}

interface Identity {
  readonly kind: string;
  readonly first_event: string;
}

/** A log and the database that may belong to it. */
export interface LogAndDatabase {
  readonly client: pg.ClientBase | pg.Pool;
  readonly store: Pick<EventStore, 'head' | 'subscribe'>;
  readonly kind: LogKind;
}

/**
 * Checks that a log belongs to the installation. If no log has been noted for the installation yet, any log is accepted.
 * @throws ForeignLog, Unavailable; errors from the database
 */
export async function assertOwnLog({ client, store, kind }: LogAndDatabase): Promise<void> {
  const noted = await readIdentity(client);
  if (noted === undefined) return;
  if (noted.kind !== kind) throw new ForeignLog(noted.kind, `in ${logName(kind)}`);
  const first = await firstEvent(store);
  if (first === undefined) throw new ForeignLog(noted.kind, 'that is empty');
  if (first.id !== noted.first_event) throw new ForeignLog(noted.kind, 'of another installation', first);
}

/**
 * Notes that a log belongs to the installation, unless a log has already been noted. An empty log is not noted.
 * @throws ForeignLog if another instance noted a different log first; Unavailable; errors from the database
 */
export async function noteLog(own: LogAndDatabase): Promise<void> {
  const { client, store, kind } = own;
  if ((await readIdentity(client)) !== undefined) return;
  const first = await firstEvent(store);
  if (first === undefined) return;
  await client.query(
    'INSERT INTO operations.log_identity (kind, first_event) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [kind, first.id],
  );
  await assertOwnLog(own);
}

/** Notes, in the caller's transaction, that the log was moved to a store of the given kind. */
export async function moveIdentity(tx: pg.ClientBase, kind: LogKind): Promise<void> {
  if ((await readIdentity(tx)) !== undefined)
    await tx.query('UPDATE operations.log_identity SET kind = $1', [kind]);
}

/** Reads the identity. A command may run on a database that this version hasn't migrated yet. */
async function readIdentity(client: pg.ClientBase | pg.Pool): Promise<Identity | undefined> {
  const there = await client.query("SELECT WHERE to_regclass('operations.log_identity') IS NOT NULL");
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<Identity>('SELECT kind, first_event FROM operations.log_identity');
  return rows[0];
}

function logName(kind: string): string {
  return kind === 'eventstoredb' ? 'EventStoreDB' : 'PostgreSQL';
}
