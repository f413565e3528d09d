/**
 * Writes that were answered before the read models showed them. Before such an answer is sent, its position is noted here for
 * each read model; only the newest position is kept. Every instance, even one that can't reach the event store, then refuses
 * reads of that model until the model has passed the position. See `docs/decisions/0017-reads-without-the-event-store.md`.
 */
import type pg from 'pg';
import { BEGINNING, type Position } from '../events/store.ts';

/** DDL: at most one row per read model. */
export const LATE_WRITES_SQL = `
CREATE TABLE operations.late_write (
  model text PRIMARY KEY,
  position text COLLATE "C" NOT NULL    -- reads of the model are refused until it has passed this
);`;

/** Notes that reads from the given models must show a position. Never replaces a noted position by an earlier one. */
export async function noteLateWrite(
  client: pg.ClientBase | pg.Pool,
  position: Position,
  models: readonly string[],
): Promise<void> {
  await client.query({
    name: 'late-write-note',
    text: `INSERT INTO operations.late_write AS l (model, position)
           SELECT unnest($1::text[]), $2
           ON CONFLICT (model) DO UPDATE SET position = excluded.position WHERE l.position < excluded.position`,
    values: [models, position],
  });
}

/** Returns the noted position for each read model. */
export async function readLateWrites(client: pg.ClientBase | pg.Pool): Promise<Map<string, Position>> {
  const { rows } = await client.query<{ model: string; position: Position }>({
    name: 'late-write-read',
    text: 'SELECT model, position FROM operations.late_write',
  });
  return new Map(rows.map(({ model, position }) => [model, position]));
}

/**
 * Returns a position at or after every acknowledged write to a record, without querying the event log. Each such write is
 * either shown by the read model `resources` or noted as late.
 */
export async function acknowledgedPosition(client: pg.ClientBase | pg.Pool): Promise<Position> {
  const { rows } = await client.query<{ position: Position }>({
    name: 'late-write-acknowledged',
    text: `SELECT max(position COLLATE "C") AS position
             FROM (SELECT position FROM resources.checkpoint UNION ALL SELECT position FROM operations.late_write) p`,
  });
  return rows[0]?.position ?? BEGINNING;
}
