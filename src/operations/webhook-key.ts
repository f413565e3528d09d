/** The key that seals the signing secrets of webhook endpoints: made once for an installation, shared by its instances. */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';

/** The key, 32 bytes. */
export async function webhookKey(pool: Pool): Promise<Buffer> {
  await pool.query('INSERT INTO operations.webhook_key (key) VALUES ($1) ON CONFLICT DO NOTHING', [
    randomBytes(32),
  ]);
  const { rows } = await pool.query<{ key: Buffer }>('SELECT key FROM operations.webhook_key');
  const [row] = rows;
  if (row === undefined) throw new Error('the key of webhook secrets was removed while it was read');
  return row.key;
}
