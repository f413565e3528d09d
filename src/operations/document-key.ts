/** The key that signs the URLs of direct uploads: made once for an installation, shared by its instances. */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';

/** DDL: a migration of its own. */
export const DOCUMENT_KEY_SQL = `
CREATE TABLE operations.document_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);`;

/** The key, 32 bytes. */
export async function documentKey(pool: Pool): Promise<Buffer> {
  await pool.query('INSERT INTO operations.document_key (key) VALUES ($1) ON CONFLICT DO NOTHING', [
    randomBytes(32),
  ]);
  const { rows } = await pool.query<{ key: Buffer }>('SELECT key FROM operations.document_key');
  const [row] = rows;
  if (row === undefined) throw new Error('the key of uploads was removed while it was read');
  return row.key;
}
