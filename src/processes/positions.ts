/** How far processes have come, as they last noted: at most a second ago when they move. */
import type { Pool } from 'pg';
import type { Position } from '../events/store.ts';

/** Positions by name; a process that has noted none is absent. */
export async function readProcessPositions(pool: Pool): Promise<Map<string, Position>> {
  const { rows } = await pool.query<{ name: string; position: Position }>(
    'SELECT name, position FROM operations.process',
  );
  return new Map(rows.map(({ name, position }) => [name, position]));
}
