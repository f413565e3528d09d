/** Installs the bundled terminology in the database. */
import type { ClientBase, Pool } from 'pg';
import { bundledFingerprint, bundledResources } from './bundled/bundled.ts';
import type { CodeSystem, Concept } from './resources.ts';
import {
  type ConceptRow,
  conceptRows,
  copyConcepts,
  newSystems,
  putResources,
  removeSystems,
} from './rows.ts';

/** Number of the database's advisory lock that is held while terminology is written. */
const LOCK = 4_206_107_318;

/** Runs `work` in a transaction during which no other process writes terminology. */
export function writingTerminology<T>(pool: Pool, work: (tx: ClientBase) => Promise<T>): Promise<T> {
  return underLock(pool, LOCK, work);
}

/** Runs `work` in a transaction that holds one of the database's advisory locks. */
export function underLock<T>(pool: Pool, lock: number, work: (tx: ClientBase) => Promise<T>): Promise<T> {
  return inTransaction(pool, 'begin', async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [lock]);
    return work(tx);
  });
}

/**
 * Runs `work` in a transaction on a connection from a pool.
 * @param begin the statement that begins the transaction
 */
export async function inTransaction<T>(
  pool: Pool,
  begin: string,
  work: (tx: ClientBase) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    const result = await work(client);
    await client.query('commit');
    client.release();
    return result;
  } catch (error) {
    // The connection isn't reused, because its state is unknown (for example, a COPY may have been interrupted).
    client.release(true);
    throw error;
  }
}

/** Returns the fingerprint of the source from which a part was last built; undefined if the part was never built. */
export async function madeFrom(tx: ClientBase | Pool, what: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ fingerprint: string }>(
    'select fingerprint from terminology.made where what = $1',
    [what],
  );
  return rows[0]?.fingerprint;
}

/** Stores the fingerprint of the source from which a part has been built. */
export async function noteMade(tx: ClientBase, what: string, fingerprint: string): Promise<void> {
  await tx.query(
    `insert into terminology.made (what, fingerprint) values ($1, $2)
     on conflict (what) do update set fingerprint = excluded.fingerprint`,
    [what, fingerprint],
  );
}

/**
 * Installs the bundled terminology if it differs from the one in the database; code systems that were loaded from files stay.
 * @param now microseconds since 1970, used as the time of changed resources
 */
export async function installBundled(pool: Pool, now: number): Promise<void> {
  const fingerprint = bundledFingerprint();
  if ((await madeFrom(pool, 'bundled')) === fingerprint) return;
  await writingTerminology(pool, async (tx) => {
    if ((await madeFrom(tx, 'bundled')) === fingerprint) return;
    await removeSystems(tx, 'not loaded', []);
    await tx.query('delete from terminology.resource where not loaded');
    const { rows } = await tx.query<{ type: string; url: string }>(
      'select type, url from terminology.resource',
    );
    const loaded = new Set(rows.map(({ type, url }) => `${type} ${url}`));
    const resources = bundledResources().filter(
      ({ resourceType, url }) => !loaded.has(`${resourceType} ${url}`),
    );
    await putResources(tx, resources, { loaded: false, changedAt: now });
    const systems = resources.filter(
      (resource): resource is Enumerated =>
        resource.resourceType === 'CodeSystem' && resource.concept !== undefined,
    );
    const numbers = await newSystems(tx, systems, false);
    await copyConcepts(tx, allConcepts(systems, numbers));
    await noteMade(tx, 'bundled', fingerprint);
  });
}

type Enumerated = CodeSystem & { readonly concept: readonly Concept[] };

function* allConcepts(
  systems: readonly Enumerated[],
  numbers: ReadonlyMap<string, number>,
): Generator<ConceptRow> {
  for (const { url, concept } of systems) yield* conceptRows(numbers.get(url) ?? 0, concept);
}
