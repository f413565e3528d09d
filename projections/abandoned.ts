/**
 * What a rebuild or a verification left behind when it ended before its end: an erased record must not live on there.
 *
 * A rebuild that runs comes to every erasure by itself, unless it is killed before. So erasures that happen while it runs
 * are noted beside its tables; whoever finds it gone does them.
 */
import type { ClientBase, Pool } from 'pg';
import type { StoredEvent } from '#src/events/catalog.ts';
import { lockKeys } from './locks.ts';
import type { Projection } from './projection.ts';
import { runAll } from './rows.ts';
import { inTransaction } from './session.ts';

const noted = (name: string): string => `${name}_next.erased`;

/** DDL of the table of erasures beside a rebuild's tables. */
export const erasedTable = (name: string): string =>
  `create table if not exists ${noted(name)} (event jsonb not null)`;

/** DDL that removes it: what was noted there the rebuilt tables have done. */
export const dropErasedTable = (name: string): string => `drop table if exists ${noted(name)}`;

/**
 * Before records are erased from the serving tables: erases them from a rebuild that is not running, notes them for one
 * that runs, and drops what an ended verification left. To be called in a transaction.
 */
export async function eraseFromAbandoned(
  tx: ClientBase,
  projection: Projection,
  events: readonly StoredEvent[],
): Promise<void> {
  const erasures = events.filter(isErasure);
  const { name } = projection;
  // Rebuilds begin and swap only while nobody holds this.
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
 * Removes what killed rebuilds and verifications still show of erased records. At a start, and now and then.
 * @throws errors of the database.
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

/** Whether an event says that a record was erased. */
export function isErasure({ event }: StoredEvent): boolean {
  return event.type === 'RecordErased';
}

async function isThere(tx: ClientBase, table: string): Promise<boolean> {
  const { rows } = await tx.query<{ there: boolean }>('select to_regclass($1) is not null as there', [table]);
  return rows[0]?.there === true;
}

/** Whether a schema is there and nobody holds, or gets before this transaction ends, the lock of who works on it. */
async function isAbandoned(tx: ClientBase, schema: string, lock: string): Promise<boolean> {
  const { rows } = await tx.query<{ free: boolean }>(
    'select pg_try_advisory_xact_lock($2, $3) as free where to_regnamespace($1) is not null',
    [schema, ...lockKeys(lock)],
  );
  return rows[0]?.free === true;
}
