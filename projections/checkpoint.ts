/**
 * A projection's checkpoint: one row in its schema that says up to where its rows show the log. Rows and checkpoint
 * change in one transaction, which begins by moving the row on from the position that the writer believes it has.
 */
import pg from 'pg';
import type { Statement } from '#src/database/one-transaction.ts';
import type { Position } from '#src/events/store.ts';

/** NOTIFY channel; the payload is `<projection> <position>`. */
export const CHANNEL = 'annal_progress';

/** What a checkpoint says. */
export interface Checkpoint {
  readonly position: Position;
  /** `Projection.version` of the software that made the tables. */
  readonly version: number;
}

/** Somebody else moved the checkpoint, or other software made the tables: this writer's picture is out of date. */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved';
  constructor(readonly schema: string) {
    super(`the checkpoint of ${schema} is not where this runner left it`);
  }
}

/** DDL of the table and its row, at the beginning. Its one row is updated all the time, within its page. */
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

/**
 * The statement that moves the checkpoint from where the writer believes it is and gives a sign of life. In a
 * transaction it comes first: it locks the row until the end, and fails by a division where the checkpoint is elsewhere,
 * so that all that was sent behind it is void. No other statement of a projection divides: see `movedOr`.
 * @param schema also the projection's name.
 * @param tell whether other instances listen; a notification wakes every listening session of the database.
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

/** What a transaction with `advancing` failed with: CheckpointMoved when the checkpoint was elsewhere. */
export function movedOr(error: unknown, schema: string): unknown {
  const elsewhere = error instanceof pg.DatabaseError && error.code === DIVISION_BY_ZERO;
  return elsewhere ? new CheckpointMoved(schema) : error;
}

/** Moves a checkpoint of tables that only the caller writes, inside the caller's transaction. */
export async function moveCheckpoint(tx: pg.ClientBase, schema: string, position: Position): Promise<void> {
  await tx.query(`update ${schema}.checkpoint set position = $1, heartbeat = clock_timestamp()`, [position]);
}

/** The checkpoint of a schema, or undefined when there is no such read model. */
export async function readCheckpoint(
  client: pg.ClientBase | pg.Pool,
  schema: string,
): Promise<Checkpoint | undefined> {
  // Not by to_regclass: what a session found missing it may go on to miss after another one has made it.
  const { rowCount } = await client.query(
    `select from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $1 and c.relname = 'checkpoint'`,
    [schema],
  );
  if (rowCount === 0) return undefined;
  return (await client.query<Checkpoint>(`select position, version from ${schema}.checkpoint`)).rows[0];
}

/** The positions of those of several projections that have tables. */
export async function notedPositions(
  client: pg.ClientBase | pg.Pool,
  names: readonly string[],
): Promise<Map<string, Position>> {
  const positions = new Map<string, Position>();
  for (const name of names) {
    const checkpoint = await readCheckpoint(client, name);
    if (checkpoint !== undefined) positions.set(name, checkpoint.position);
  }
  return positions;
}

/** The checkpoints of several projections in one statement. */
export async function readCheckpoints(
  client: pg.ClientBase | pg.Pool,
  names: readonly string[],
): Promise<Map<string, Checkpoint>> {
  const each = names.map((name) => `select '${name}' as name, position, version from ${name}.checkpoint`);
  const { rows } = await client.query<Checkpoint & { name: string }>(each.join(' union all '));
  return new Map(rows.map(({ name, position, version }) => [name, { position, version }]));
}

/** What sessions that listen to `CHANNEL` are called in pg_stat_activity. */
export const LISTENER = 'progress';

/** How many sessions listen to `CHANNEL`: one for each instance. */
export async function countListeners(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select count(*) as n from pg_stat_activity where datname = current_database() and application_name = $1',
    [`annal ${LISTENER}`],
  );
  return rows[0]?.n ?? 0;
}
