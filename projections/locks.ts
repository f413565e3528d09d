/** The projections' advisory locks: for running a projection, for rebuilding it, and for installing the tables. */
import { createHash } from 'node:crypto';
import type { ClientBase } from 'pg';

/** "ANNL": the class of all locks in this module, so that they never collide with locks of other parts of the service. */
const CLASS = 0x414e4e4c;

/** Returns the two keys of a named lock. */
export function lockKeys(name: string): [number, number] {
  return [CLASS, createHash('sha256').update(name).digest().readInt32BE(0) & 0x7fffffff];
}

/** Takes a session lock if it is free. */
export async function tryLock(client: ClientBase, name: string): Promise<boolean> {
  const { rows } = await client.query<{ won: boolean }>(
    'select pg_try_advisory_lock($1, $2) as won',
    lockKeys(name),
  );
  return rows[0]?.won === true;
}

/** Releases a session lock. */
export async function unlock(client: ClientBase, name: string): Promise<void> {
  await client.query('select pg_advisory_unlock($1, $2)', lockKeys(name));
}

/** Waits for a lock, which is released when the transaction ends. */
export async function lockTransaction(tx: ClientBase, name: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock($1, $2)', lockKeys(name));
}
