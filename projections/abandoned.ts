/**
 * Removes erased records from the tables that interrupted rebuilds and verifications have left behind. A running rebuild
 * processes every erasure itself, unless it is killed first. Therefore, while a rebuild runs, erasures are noted next to its
 * tables, and the next erasure that finds the rebuild gone applies them.
 */
import type { ClientBase, Pool } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { lockKeys } from './locks.ts';
import { isErasure } from './owner.ts';
import type { Projection } from './projection.ts';
import { runAll } from './rows.ts';
import { inTransaction } from './session.ts';

const noted = (name: string): string => `${name}_next.erased`;

/** DDL for the table that lists erasures next to a rebuild's tables. */
export const erasedTable = (name: string): string =>
  `create table if not exists ${noted(name)} (event jsonb not null)`;

/** DDL that removes this table, once the rebuilt tables have applied its erasures. */
export const dropErasedTable = (name: string): string => `drop table if exists ${noted(name)}`;

/**
 * Prepares an erasure from the serving tables: erases the records from a rebuild that has been abandoned, notes them for a
 * rebuild that is running, and drops the tables that verifications have left behind. Call it in a transaction.
 */
export async function eraseFromAbandoned(
  tx: ClientBase,
  projection: Projection,
  events: readonly StoredEvent[],
): Promise<void> {
  const erasures = events.filter(isErasure);
  const { name } = projection;
  // Rebuilds start and swap only while this lock is free.
  await tx.query(`select from ${name}.checkpoint for share`);
  if (await isAbandoned(tx, `${name}_next`, `rebuild ${name}`)) {
    await runAll(tx, projection.statements(`${name}_next`, erasures));
  } else if (await isThere(tx, noted(name))) {
    const text = `insert into ${noted(name)} select value from jsonb_array_elements($1::jsonb)`;
    await tx.query(text, [JSON.stringify(erasures)]);
  }
  if (await isAbandoned(tx, `${name}_verify`, 'verify')) await tx.query(`drop schema ${name}_verify cascade`);
}

/**
 * Removes the rows of erased records from the tables of killed rebuilds and verifications. Runs at startup and at intervals.
 * @throws database errors
 */
export async function sweepAbandoned(pool: Pool, projections: readonly Projection[]): Promise<void> {
  const client = await pool.connect();
  try {
    for (const projection of projections) await inTransaction(client, () => sweep(client, projection));
  } finally {
    client.release();
  }
}

async function sweep(tx: ClientBase, projection: Projection): Promise<void> {
  const { name } = projection;
  if (await isAbandoned(tx, `${name}_verify`, 'verify')) await tx.query(`drop schema ${name}_verify cascade`);
  if (await isAbandoned(tx, `${name}_old`, `rebuild ${name}`))
    await tx.query(`drop schema ${name}_old cascade`);
  if (!(await isThere(tx, noted(name)))) return;
  const { rows } = await tx.query<{ event: StoredEvent }>(`select event from ${noted(name)}`);
  if (rows.length === 0 || !(await isAbandoned(tx, `${name}_next`, `rebuild ${name}`))) return;
  const erasures = rows.map(({ event }) => event);
  await runAll(tx, projection.statements(`${name}_next`, erasures));
  await tx.query(`delete from ${noted(name)}`);
}

async function isThere(tx: ClientBase, table: string): Promise<boolean> {
  const { rows } = await tx.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table]);
  return rows[0]?.there === true;
}

/** Returns true if a schema exists and its worker's lock was free; the lock is then held until this transaction ends. */
async function isAbandoned(tx: ClientBase, schema: string, lock: string): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock($2, $3) as free where to_regnamespace($1) is not null',
    [schema, ...lockKeys(lock)],
  );
  return rows[0]?.free === true;
}
