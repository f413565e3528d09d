/**
 * A projection's checkpoint: one row in its schema that says up to which position its rows represent the log. Rows and
 * checkpoint change in one transaction, which begins by advancing the checkpoint from the position that the writer expects it
 * to have.
 */
import pg from 'pg';
import { isTableMissing } from '#src/database/failure.ts';
import type { Statement } from '#src/database/one-transaction.ts';
import type { Position } from '#src/events/store.ts';

/** NOTIFY channel; the payload is `<projection> <position>`. */
export const CHANNEL = 'annal_progress';

/** Real versions begin at 1: tables with this version must be rebuilt before anything reads or writes them. */
export const NOTHING_YET = 0;

/** The content of a checkpoint. */
export interface Checkpoint {
  readonly position: Position;
  /** `Projection.version` in the software that created the tables. */
  readonly version: number;
}

/**
 * Thrown if another process moved the checkpoint, or different software created the tables: this writer's state is out of
 * date.
 */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
  constructor(readonly schema: string) {
    super(`the checkpoint of ${schema} was moved by another runner`);
  }
}

/** Returns the DDL for the table with its single row, which is updated constantly, always within the same page. */
export function checkpointTable(schema: string, version: number): string {
  return `
create table ${schema}.checkpoint (
  one boolean primary key default true check (one),
  position text collate "C" not null,
  version int not null,
  heartbeat timestamptz not null default clock_timestamp()   -- the runner's last sign of life
) with (fillfactor = 10);
insert into ${schema}.checkpoint (position, version) values ('', ${version});`;
}

const DIVISION_BY_ZERO = '22012';
/** The number of times that checkpoints are read again if a table was dropped in the meantime. */
const READS = 3;

/**
 * Returns the statement that moves the checkpoint from the position that the writer expects, and updates the heartbeat. It
 * must come first in a transaction: it locks the row, and if the checkpoint is at a different position, it fails with a
 * division by zero, so that the statements after it have no effect. No other statement in a projection divides: see `movedOr`.
 * @param schema also the projection's name
 * @param tell true if other instances listen; a notification wakes every listening session in the database
 */
export function advancing(schema: string, held: Checkpoint, position: Position, tell: boolean): Statement {
  return {
    name: `${schema}.advance`,
    text: `update ${schema}.checkpoint set position = $1, heartbeat = clock_timestamp()
            where 1 / (position = $2 and version = $3)::int = 1
        returning case when $4 then pg_notify('${CHANNEL}', '${schema} ' || $1) end`,
    values: [position, held.position, held.version, tell && position !== held.position],
  };
}

/**
 * Returns CheckpointMoved if a transaction with `advancing` failed because one of its checkpoints was at a different position
 * or was dropped; otherwise returns the error itself.
 */
export function movedOr(error: unknown, schemas: readonly string[]): unknown {
  if (!(error instanceof pg.DatabaseError)) return error;
  const elsewhere = error.code === DIVISION_BY_ZERO;
  const dropped =
    isTableMissing(error) && schemas.some((schema) => error.message.includes(`"${schema}.checkpoint"`));
  return elsewhere || dropped ? new CheckpointMoved(schemas.join(' or ')) : error;
}

/** Moves the checkpoint of tables that only the caller writes to, inside the caller's transaction. */
export async function moveCheckpoint(tx: pg.ClientBase, schema: string, position: Position): Promise<void> {
  await tx.query(`update ${schema}.checkpoint set position = $1, heartbeat = clock_timestamp()`, [position]);
}

/** Returns a schema's checkpoint; undefined if the read model doesn't exist. */
export async function readCheckpoint(
  client: pg.ClientBase | pg.Pool,
  schema: string,
): Promise<Checkpoint | undefined> {
  return (await readCheckpoints(client, [schema])).get(schema);
}

/** Returns the positions recorded for the given projections; projections without tables are absent. */
export async function notedPositions(
  client: pg.ClientBase | pg.Pool,
  names: readonly string[],
): Promise<Map<string, Position>> {
  const checkpoints = await readCheckpoints(client, names);
  return new Map([...checkpoints].map(([name, { position }]) => [name, position]));
}

/**
 * Returns the checkpoints of the given projections; projections without tables are absent.
 * @throws database errors
 */
export async function readCheckpoints(
  client: pg.ClientBase | pg.Pool,
  names: readonly string[],
): Promise<Map<string, Checkpoint>> {
  for (let reads = 1; ; reads += 1) {
    const each = (await withTables(client, names)).map(
      (name) => `select '${name}' as name, position, version from ${name}.checkpoint`,
    );
    if (each.length === 0) return new Map();
    try {
      const { rows } = await client.query<Checkpoint & { name: string }>(each.join(' union all '));
      return new Map(rows.map(({ name, position, version }) => [name, { position, version }]));
    } catch (error) {
      if (!isTableMissing(error) || reads === READS) throw error;
    }
  }
}

/** Returns those of the given schemas that have a checkpoint. */
async function withTables(client: pg.ClientBase | pg.Pool, schemas: readonly string[]): Promise<string[]> {
  // to_regclass isn't used: a session that once failed to find the table may still not find it after another session has
  // created it.
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = any($1) and c.relname = 'checkpoint'`,
    [schemas],
  );
  return rows.map(({ name }) => name);
}

/**
 * Returns the projections whose reads would find nothing, because their tables are missing or haven't been filled by a rebuild
 * yet.
 */
export function unfilled(
  names: readonly string[],
  checkpoints: ReadonlyMap<string, Checkpoint>,
): readonly string[] {
  return names.filter((name) => (checkpoints.get(name)?.version ?? NOTHING_YET) === NOTHING_YET);
}

/** `application_name` of the sessions that listen on `CHANNEL`. */
export const LISTENER = 'progress';

/** Returns the number of sessions that listen on `CHANNEL`: one per instance. */
export async function countListeners(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*) as n from pg_stat_activity where datname = current_database() and application_name = $1',
    [`annal ${LISTENER}`],
  );
  return rows[0]?.n ?? 0;
}
