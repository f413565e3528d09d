/**
 * The shared terminology's read models. They have the same tables as those for resources, in separate schemas, and are filled
 * by the same projections. So the terminology's resources can be searched like any other resources, and rebuilds and
 * verifications of the log don't touch them.
 */
import { createHash } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { history } from '#projections/history/project.ts';
import type { Projection } from '#projections/projection.ts';
import { resources } from '#projections/resources/project.ts';
import { search } from '#projections/search/project.ts';
import { SHARED_OWNER, sharedSchema } from '#queries/terminology/shared.ts';
import { CATALOG, type StoredEvent } from '#src/events/catalog.ts';
import { BEGINNING } from '#src/events/store.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { installConcepts } from '#src/terminology/concepts/store.ts';
import { installBundled, madeFrom, noteMade, writingTerminology } from '#src/terminology/install.ts';

const MODELS: readonly Projection[] = [resources, search, history];

/** Writes the bundled terminology if it is missing, and rebuilds its read models if they are out of date. */
export async function prepareTerminology(pool: Pool): Promise<void> {
  await installBundled(pool, nowMicros());
  await installConcepts(pool);
  await publishTerminology(pool);
}

/**
 * Returns a function that resolves when the shared terminology is installed. The installation takes about a second on a new
 * database. It happens once, on first use; if it fails, the next caller retries.
 */
export function terminologyReady(pool: Pool): () => Promise<void> {
  let prepared: Promise<void> | undefined;
  return () => {
    prepared ??= prepareTerminology(pool).catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };
}

/** How many times the rebuild is tried while searches hold locks. */
const TRIES = 5;

/**
 * Rebuilds the read models if their inputs have changed. Searches that are running either finish first or give way to the
 * rebuild.
 */
export async function publishTerminology(pool: Pool): Promise<void> {
  for (let left = TRIES - 1; ; left -= 1) {
    if ((await madeFrom(pool, 'read models')) === (await fingerprint(pool))) return;
    try {
      return await writingTerminology(pool, makeReadModels);
    } catch (error) {
      const deadlock = error instanceof Error && 'code' in error && error.code === '40P01';
      if (!deadlock || left === 0) throw error;
    }
  }
}

async function makeReadModels(tx: ClientBase): Promise<void> {
  const current = await fingerprint(tx);
  if ((await madeFrom(tx, 'read models')) === current) return;
  const events = await storedResources(tx);
  for (const model of MODELS) {
    const schema = sharedSchema(model.name);
    await tx.query(
      `drop schema if exists ${schema} cascade; create schema ${schema}; ${model.tables(schema)}`,
    );
    await model.load(tx, schema, events);
    await tx.query(model.indexes(schema));
  }
  await noteMade(tx, 'read models', current);
}

/** Returns a hash of the read models' inputs: the resources, the tables' columns, and the code that builds rows. */
async function fingerprint(database: Pool | ClientBase): Promise<string> {
  const { rows } = await database.query<{ digest: string | null }>(
    `select md5(string_agg(id::text || changed_at::text, ',' order by id)) as digest from terminology.resource`,
  );
  const hash = createHash('sha256').update(rows[0]?.digest ?? '');
  for (const model of MODELS)
    hash.update(`${model.name} ${model.version} ${model.tables('x')} ${model.indexes('x')}`);
  return hash.digest('hex');
}

/** Returns the resources in the form that projections accept, as if each resource had just been created. */
async function storedResources(tx: ClientBase): Promise<StoredEvent[]> {
  const { rows } = await tx.query<{ id: string; type: string; changed_at: number; body: string }>(
    'select id, type, changed_at, body from terminology.resource order by id',
  );
  return rows.map((row, revision) => ({
    id: row.id,
    stream: 'terminology',
    revision,
    position: BEGINNING,
    metadata: {
      schema_version: CATALOG.ResourceCreated.version,
      recorded_at: toInstant(row.changed_at),
      request_id: 'terminology',
      command_id: row.id,
      append: [0, 1],
      owner: SHARED_OWNER,
      credential: { kind: 'system' },
    },
    event: {
      type: 'ResourceCreated',
      resourceType: row.type,
      resourceId: row.id,
      version: 1,
      body: row.body,
    },
  }));
}
