/** Positions of processes as last saved; while the processes move, these are at most a second old. */
import type { Pool } from 'pg';
import type { Position } from '../events/store.ts';

/** Returns positions by process; a process that has not saved a position is absent. */
export async function readProcessPositions(pool: Pool): Promise<Map<string, Position>> {
  const { rows } = await pool.query<{ name: string; position: Position }>(
    'SELECT name, position FROM operations.process',
  );
  return new Map(rows.map(({ name, position }) => [name, position]));
}
