/** What a rebuild or a verification left behind when it was stopped: an erased record must not live on there. */
import type { ClientBase } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { lockKeys } from './locks.ts';
import type { Projection } from './projection.ts';
import { runAll } from './rows.ts';

/**
 * In the transaction that erases records from the serving tables: erases them from a rebuild that is not running,
 * and drops what an ended verification left. One that runs comes to the same events by itself.
 */
export async function eraseFromAbandoned(
  tx: ClientBase,
  projection: Projection,
  events: readonly StoredEvent[],
): Promise<void> {
  const erasures = events.filter(isErasure);
  const { name } = projection;
  if (await isAbandoned(tx, `${name}_next`, `rebuild ${name}`)) {
    await runAll(tx, projection.statements(`${name}_next`, erasures));
  }
  if (await isAbandoned(tx, `${name}_verify`, 'verify')) await tx.query(`drop schema ${name}_verify cascade`);
}

/** Whether an event says that a record was erased. */
export function isErasure({ event }: StoredEvent): boolean {
  return event.type === 'RecordErased';
}

/** Whether a schema is there and nobody holds, or gets before this transaction ends, the lock of who works on it. */
async function isAbandoned(tx: ClientBase, schema: string, lock: string): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock($2, $3) as free where to_regnamespace($1) is not null',
    [schema, ...lockKeys(lock)],
  );
  return rows[0]?.free === true;
}
