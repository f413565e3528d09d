/**
 * Puts the rows of resources that haven't been written yet into temporary tables, so that a search on these tables finds what
 * it would find once they are written.
 */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING } from '#src/events/store.ts';
import type { PastVersion, Unwritten } from '#src/fhir/unwritten.ts';
import { history } from './history/project.ts';
import { resources } from './resources/project.ts';
import { search } from './search/project.ts';

/** The schema of a session's temporary tables. */
const TEMPORARY = 'pg_temp';

/**
 * Creates the tables of the read models `resources` and `search` in `pg_temp`, and fills them.
 * @param tx a transaction; rolling it back removes the tables
 */
export async function loadUnwritten(tx: ClientBase, all: readonly Unwritten[]): Promise<void> {
  const recordedAt = new Date().toISOString();
  const events = all.map((one, n) => makeEvent(one, n, recordedAt));
  for (const projection of [resources, search]) {
    await tx.query(projection.tables(TEMPORARY));
    await projection.load(tx, TEMPORARY, events);
  }
}

/** Adds to the tables in `pg_temp` the rows that earlier versions had in the read models `search` and `history`. */
export async function loadPast(tx: ClientBase, versions: readonly PastVersion[]): Promise<void> {
  const events = versions.map((one, n) => makeEvent(one, n, one.recordedAt));
  await search.load(tx, TEMPORARY, events);
  await history.load(tx, TEMPORARY, events);
}

function makeEvent(
  { id, type, stream, owner, body }: Unwritten,
  revision: number,
  recordedAt: string,
): StoredEvent {
  return {
    id,
    stream,
    revision,
    position: BEGINNING,
    metadata: {
      schema_version: 1,
      recorded_at: recordedAt,
      request_id: '',
      command_id: '',
      append: [0, 1],
      owner,
      credential: { kind: 'system' },
    },
    event: { type: 'ResourceCreated', resourceType: type, resourceId: id, version: 1, body },
  };
}
