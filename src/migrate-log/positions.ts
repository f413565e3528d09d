/**
 * Lists everything in the service's database that contains a position in the log, and translates it for another store. A
 * column missing from the list would cause duplicates or losses; a test finds such columns.
 */
import type pg from 'pg';
import { LogClosed } from '#src/events/closed.ts';
import type { Position } from '#src/events/store.ts';

/** Columns with positions, in addition to `checkpoint.position` of each read model. */
export const POSITION_COLUMNS = [
  'operations.process.position',
  'operations.parked.position',
  'operations.log_mark.position',
  'operations.webhook_replay.position',
  'operations.webhook_replay.head_position',
  'operations.late_write.position',
  'operations.checkpoint.position',
] as const;

/** Inputs to a translation. */
export interface PositionMove {
  /** Names of the read models. Each is also the name of a schema that has a checkpoint. */
  readonly models: readonly string[];
  /** The logs, by names that stay the same in every run. */
  readonly from: string;
  readonly to: string;
  readonly translate: (position: Position) => Promise<Position>;
  /** Returns an event's position in the target; undefined if its stream was erased. */
  readonly readPosition: (stream: string, revision: number) => Promise<Position | undefined>;
}

const MOVES = `
create table if not exists operations.log_move (
  moved_at timestamptz primary key default clock_timestamp(),
  source text not null,
  target text not null                 -- whose positions the database holds since
)`;

/** Returns the log to which the positions in the database belong; undefined if the log was never moved. */
export async function logOfPositions(client: pg.ClientBase | pg.Pool): Promise<string | undefined> {
  const there = await client.query("select where to_regclass('operations.log_move') is not null");
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<{ target: string }>(
    'select target from operations.log_move order by moved_at desc limit 1',
  );
  return rows[0]?.target;
}

/**
 * Checks at startup that the positions don't belong to a log in a different kind of store.
 * @throws LogClosed
 */
export async function assertNotMoved(pool: pg.Pool, inPostgres: boolean): Promise<void> {
  const log = await logOfPositions(pool);
  if (log !== undefined && inPostgres === /^(esdb|kurrentdb)/.test(log)) throw new LogClosed(log);
}

/**
 * Translates all positions, in the caller's transaction, from the log that `logOfPositions` names. No instance may be running.
 * Unfinished rebuilds are dropped and start over.
 */
export async function movePositions(tx: pg.ClientBase, move: PositionMove): Promise<void> {
  const { models, from, to, translate, readPosition: positionOf } = move;
  for (const name of models) {
    const shadows = ['next', 'old', 'verify'].map((kind) => `drop schema if exists ${name}_${kind} cascade`);
    await tx.query(shadows.join(';'));
    await rewrite(tx, `${name}.checkpoint`, translate);
  }
  await rewrite(tx, 'operations.process', translate);
  await rewrite(tx, 'operations.late_write', translate);
  await rewrite(tx, 'operations.checkpoint', translate);
  await rewrite(tx, 'operations.webhook_replay', translate);
  await rewrite(tx, 'operations.webhook_replay', translate, 'head_position');
  const { rows } = await tx.query<{ stream: string; revision: number }>(
    'select distinct stream, revision from operations.parked',
  );
  for (const { stream, revision } of rows) {
    await tx.query('update operations.parked set position = $3 where stream = $1 and revision = $2', [
      stream,
      revision,
      (await positionOf(stream, revision)) ?? '',
    ]);
  }
  await tx.query(MOVES);
  await tx.query('insert into operations.log_move (source, target) values ($1, $2)', [from, to]);
}

async function rewrite(
  tx: pg.ClientBase,
  table: string,
  translate: PositionMove['translate'],
  column = 'position',
): Promise<void> {
  const { rows } = await tx.query<{ position: Position }>(
    `select distinct ${column} as position from ${table} where ${column} <> ''`,
  );
  const positions = rows.map(({ position }) => position);
  const translated: Position[] = [];
  for (const position of positions) translated.push(await translate(position));
  // Done in one statement, because positions in the two logs may look alike.
  await tx.query(
    `update ${table} t set ${column} = x.translated from unnest($1::text[], $2::text[]) as x(position, translated)
      where t.${column} = x.position`,
    [positions, translated],
  );
}
