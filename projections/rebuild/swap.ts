/** A shadow's schema: creating it, and swapping it with the serving schema. */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { dropErasedTable, erasedTable } from '../abandoned.ts';
import { moveCheckpoint, readCheckpoint } from '../checkpoint.ts';
import type { Projection } from '../projection.ts';
import { inTransaction } from '../session.ts';
import { schemaSql } from '../tables.ts';
import type { Shadow } from './shadow.ts';

/** How long a swap waits for the running batch, and how long the projection then waits for the swap, in ms. */
const SWAP_MS = 2_000;

/**
 * Creates a rebuild's schema, or keeps an earlier one made by the same software. Waits for concurrent erasures, because they
 * lock the serving checkpoint (`abandoned.ts`).
 * @param prepare DDL for a new schema, in addition to its tables
 * @throws Error if there are no serving tables
 */
export async function makeShadow(
  session: pg.Client,
  projection: Projection,
  { fresh, prepare }: { readonly fresh: boolean; readonly prepare: string },
): Promise<void> {
  const { name, version } = projection;
  if ((await readCheckpoint(session, name)) === undefined)
    throw new Error(`the read model ${name} doesn't exist`);
  const next = `${name}_next`;
  const dropOld = `drop schema if exists ${name}_old cascade`;
  await session.query(dropOld);
  await inTransaction(session, async () => {
    await session.query(`lock table ${name}.checkpoint in exclusive mode`);
    const before = await readCheckpoint(session, next);
    if (before?.version !== version || fresh) {
      // Dropping large tables takes a while and must not block other work.
      if (before !== undefined) await session.query(`alter schema ${next} rename to ${name}_old`);
      await session.query(`${schemaSql(projection, next)} ${prepare}`);
    }
    await session.query(erasedTable(name));
  });
  await session.query(dropOld);
}

/** Repeats the attempt until there is a result; waiting for the serving tables or for a lock may take a moment. */
export async function pollUntilReady<T>(
  attempt: () => Promise<T | undefined>,
  name: string,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 0; tries < 100; tries += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    await delay(100, undefined, signal === undefined ? {} : { signal });
  }
  throw new Error(
    `projection ${name} did not reach the position of its rebuilt tables, or was never idle long enough to swap them; retry`,
  );
}

/**
 * Swaps the schemas. The lock on the serving checkpoint lets the current batch finish and delays the next one, so nothing is
 * written while the schemas are renamed. Reads need no lock and find either the old tables or the new ones.
 * @returns undefined if it must be retried
 */
export async function swap(
  session: pg.Client,
  shadow: Shadow,
  { comparable, restored }: { comparable: boolean; restored: boolean },
): Promise<true | undefined> {
  const { name } = shadow.projection;
  const work = async (): Promise<true> => {
    await session.query(
      `set local lock_timeout = ${SWAP_MS}; lock table ${name}.checkpoint in exclusive mode`,
    );
    const serving = await readCheckpoint(session, name);
    const position = await shadow.position();
    if (serving === undefined) throw new Error(`the read model ${name} doesn't exist`);
    if (comparable && position > serving.position) throw new NotYet();
    if (!restored && !(await shadow.loadWithin(serving.position, SWAP_MS))) throw new NotYet();
    // This also counts as a heartbeat, so that the waiting runner doesn't appear to hang.
    await moveCheckpoint(session, shadow.schema, await shadow.position());
    await session.query(dropErasedTable(name));
    await session.query(
      `alter schema ${name} rename to ${name}_old; alter schema ${shadow.schema} rename to ${name}`,
    );
    return true;
  };
  return inTransaction(session, work).catch((error: unknown) => {
    if (error instanceof NotYet || (error instanceof pg.DatabaseError && error.code === '55P03'))
      return undefined;
    throw error;
  });
}

/** Thrown if the tables aren't at the same position yet. */
class NotYet extends Error {
  override readonly name = 'NotYet';
}
