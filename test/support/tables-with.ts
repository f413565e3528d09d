/** Finds a text anywhere in the database. */
import type { Pool } from 'pg';

/** Returns the tables, in any schema, that have a row containing the text. */
export async function tablesWith(pool: Pool, text: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
  );
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await pool.query(`SELECT 1 FROM ${name} t WHERE strpos(t::text, $1) > 0 LIMIT 1`, [
      text,
    ]);
    if (rowCount !== 0) found.push(name);
  }
  return found;
}
