/** Provides keys that are created once per installation and shared by its instances. */
import { randomBytes } from 'node:crypto';
import type { Pool } from 'pg';

/** The DDL of a separate migration. */
export const DOCUMENT_KEY_SQL = `
CREATE TABLE operations.document_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);`;

/** The DDL of a separate migration. */
export const PAIRWISE_KEY_SQL = `
CREATE TABLE operations.pairwise_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);`;

/** The DDL of a separate migration. */
export const IDEMPOTENCY_KEY_SQL = `
CREATE TABLE operations.idempotency_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);`;

/**
 * The purpose of a key: sealing the signing secrets of webhook endpoints, signing the URLs for direct uploads, deriving
 * pairwise ids, encrypting stored answers to requests with tokens, sealing the keys that sign ID tokens, or sealing the keys
 * of shared links.
 */
export type InstallationKey =
  | 'webhook_key'
  | 'document_key'
  | 'pairwise_key'
  | 'idempotency_key'
  | 'signing_seal'
  | 'shared_link_key';

/** Returns a key of 32 bytes. */
export async function installationKey(pool: Pool, name: InstallationKey): Promise<Buffer> {
  await pool.query(`INSERT INTO operations.${name} (key) VALUES ($1) ON CONFLICT DO NOTHING`, [
    randomBytes(32),
  ]);
  const { rows } = await pool.query<{ key: Buffer }>(`SELECT key FROM operations.${name}`);
  const [row] = rows;
  if (row === undefined) throw new Error(`operations.${name} was emptied while it was read`);
  return row.key;
}
