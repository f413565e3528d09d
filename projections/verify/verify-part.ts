/**
 * Verifies the read models of some streams: derives their rows from the events of these streams only, and compares them with
 * the rows that the serving tables have for the same records. Each read model is compared at its own position, in one
 * snapshot. Afterwards a rollback removes the derived rows.
 */
import type pg from 'pg';
import { type EventStore, type RecordedEvent, StreamDeleted } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { readCheckpoint } from '../checkpoint.ts';
import { compareTables, NAMED } from '../compare.ts';
import { CannotApply, isPassing } from '../failure.ts';
import { PACES } from '../pace.ts';
import { decodeOnce, ownEvents } from '../parsed.ts';
import type { Projection } from '../projection.ts';
import { WHOLE_TABLES } from '../session.ts';
import { schemaSql } from '../tables.ts';
import type { ReadModelFault } from './verify-read-model.ts';

/** The part of the data to verify. */
export interface Part {
  /** Streams, each read from its beginning. */
  readonly streams: readonly string[];
  readonly records: readonly string[];
  /** The tenants whose directories are also verified; empty if only records are verified. */
  readonly tenants: readonly string[];
}

const BATCH = 1_000;

/**
 * Yields a stream's events in batches; yields nothing if the stream was removed.
 * @throws Unavailable
 */
export async function* readInBatches(
  store: Pick<EventStore, 'read'>,
  stream: string,
): AsyncGenerator<readonly RecordedEvent[]> {
  let batch: RecordedEvent[] = [];
  try {
    for await (const event of store.read(stream)) {
      batch.push(event);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
  }
  if (batch.length > 0) yield batch;
}

/**
 * Compares those tables of a read model that contain the record of each row.
 * @param session must not be used by anything else in the meantime
 * @throws temporary errors
 */
export async function verifyPart(
  store: Pick<EventStore, 'read'>,
  session: pg.Client,
  projection: Projection,
  part: Part,
  signal?: AbortSignal,
): Promise<readonly ReadModelFault[]> {
  const { name, version } = projection;
  await session.query('begin isolation level repeatable read');
  try {
    const serving = await readCheckpoint(session, name);
    if (serving?.version !== version) {
      const message = `the tables have version ${serving?.version ?? 'none'}, this version of Annal needs ${version}`;
      return [{ projection: name, what: 'outdated', message }];
    }
    const derived = `${name}_part`;
    await session.query(schemaSql(projection, derived));
    const gone = new Set<string>();
    for (const stream of part.streams) {
      signal?.throwIfAborted();
      let events = 0;
      for await (const batch of readInBatches(store, stream)) {
        events += batch.length;
        await load(
          session,
          projection,
          derived,
          batch.filter(({ position }) => position <= serving.position),
        );
      }
      const patient = recordPatient(stream);
      if (events === 0 && patient !== undefined && (await isRemoved(store, stream))) gone.add(patient);
    }
    await session.query(WHOLE_TABLES);
    const faults: ReadModelFault[] = [];
    for (const { table, condition, values } of await listTables(session, projection, derived, part)) {
      await session.query(`create schema if not exists ${derived}_serving`);
      await session.query(
        `create view ${derived}_serving.${table} as select t.* from ${name}.${table} t where ${condition(values.map(quote))}`,
      );
      const found = await compareTables(session, [`${derived}_serving`, derived], table, {
        limit: NAMED,
        pace: PACES.full,
      });
      for (const difference of found.differences)
        if (difference.record === null || !gone.has(difference.record))
          faults.push({ ...difference, projection: name });
      if (found.more)
        faults.push({
          projection: name,
          what: 'unnamed',
          message: `more than 1,000 rows of ${name}.${table} differ; only 1,000 are listed`,
        });
    }
    return faults;
  } catch (error) {
    if (!(error instanceof CannotApply)) throw error;
    return [{ projection: name, what: 'underivable', message: error.message }];
  } finally {
    await session.query('rollback').catch(() => undefined);
  }
}

/**
 * Loads the events of one stream.
 * @throws CannotApply naming the read model; temporary errors
 */
async function load(
  session: pg.Client,
  projection: Projection,
  schema: string,
  events: readonly RecordedEvent[],
): Promise<void> {
  const own = ownEvents(projection, events);
  const [first] = own;
  if (first === undefined) return;
  const decoded = own.map((event) => {
    try {
      return decodeOnce(event);
    } catch (error) {
      throw new CannotApply(projection.name, event, error);
    }
  });
  try {
    await projection.load(session, schema, decoded);
  } catch (error) {
    throw isPassing(error) ? error : new CannotApply(projection.name, first, error);
  }
}

async function isRemoved(store: Pick<EventStore, 'read'>, stream: string): Promise<boolean> {
  try {
    for await (const _ of store.read(stream, { limit: 1 })) return false;
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return true;
    throw error;
  }
}

/** A table, and the condition that selects the rows of the verified part. */
interface PartTable {
  readonly table: string;
  readonly values: readonly string[];
  readonly condition: (values: readonly string[]) => string;
}

/**
 * Returns the tables that contain the record of each row. Directory rows are compared in those that also contain the tenant.
 */
async function listTables(
  session: pg.Client,
  { compared }: Projection,
  schema: string,
  { records, tenants }: Part,
): Promise<PartTable[]> {
  const { rows } = await session.query<{ table: string; tenant: boolean }>(
    `select c.table_name as table, bool_or(c.column_name = 'tenant') as tenant
       from information_schema.columns c
      where c.table_schema = $1 and c.table_name = any($2)
      group by 1 having bool_or(c.column_name = 'record')`,
    [schema, compared],
  );
  return rows.map(({ table, tenant }) =>
    tenant && tenants.length > 0
      ? { table, values: tenants, condition: (all) => `t.tenant in (${all.join(', ')})` }
      : { table, values: records, condition: (all) => `t.record in (${all.join(', ') || 'null'})` },
  );
}

/**
 * Returns SQL for a UUID; needed because views don't accept parameters.
 * @throws TypeError for any other text
 */
function quote(id: string): string {
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new TypeError('not a UUID');
  return `'${id}'::uuid`;
}
