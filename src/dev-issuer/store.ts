/** Stores the development issuer's identifier, key and pending authorization codes, for all instances and across restarts. */
import { createHash } from 'node:crypto';
import type pg from 'pg';

/** SQL for a separate migration. The key signs only for sandbox developers; in production mode, it is never trusted. */
export const DEV_ISSUER_SQL = `
CREATE TABLE operations.dev_issuer (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  issuer text,                         -- null: there is none in this installation
  private_key text                     -- a JWK (RFC 7517), made on first use
);
CREATE TABLE operations.dev_issuer_codes (
  code_sha256 bytea PRIMARY KEY,
  request jsonb NOT NULL,              -- what the code was given for
  expires_at timestamptz NOT NULL
);`;

type Client = pg.Pool | pg.ClientBase;

/** Saves the issuer that this installation provides; undefined if it provides none. */
export async function saveDevIssuer(client: Client, issuer: string | undefined): Promise<void> {
  await client.query(
    `INSERT INTO operations.dev_issuer (issuer) VALUES ($1)
     ON CONFLICT (one) DO UPDATE SET issuer = excluded.issuer
     WHERE dev_issuer.issuer IS DISTINCT FROM excluded.issuer`,
    [issuer ?? null],
  );
}

/** Returns the issuer that the service saved at its last start; undefined if it provides none. */
export async function savedDevIssuer(client: Client): Promise<string | undefined> {
  // A command may use a database that no service with this version has migrated.
  const there = await client.query("SELECT WHERE to_regclass('operations.dev_issuer') IS NOT NULL");
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<{ issuer: string | null }>('SELECT issuer FROM operations.dev_issuer');
  return rows[0]?.issuer ?? undefined;
}

/**
 * Returns the issuer's private key as JSON. If the key doesn't exist, `make` creates one; if several processes do this, the
 * key that is stored first is used.
 */
export async function devIssuerKey(client: Client, make: () => Promise<string>): Promise<string> {
  const { rows } = await client.query<{ key: string | null }>(
    'SELECT private_key AS key FROM operations.dev_issuer',
  );
  const [held] = rows;
  if (held === undefined) throw new Error('this installation has no development issuer');
  if (held.key !== null) return held.key;
  const made = await make();
  const kept = await client.query<{ key: string }>(
    'UPDATE operations.dev_issuer SET private_key = coalesce(private_key, $1) RETURNING private_key AS key',
    [made],
  );
  return kept.rows[0]?.key ?? made;
}

/** Saves the request for which a code was issued, for a limited time, and deletes expired codes. */
export async function saveCode(
  client: Client,
  code: string,
  request: object,
  seconds: number,
): Promise<void> {
  await client.query('DELETE FROM operations.dev_issuer_codes WHERE expires_at <= now()');
  await client.query(
    `INSERT INTO operations.dev_issuer_codes (code_sha256, request, expires_at)
     VALUES ($1, $2, now() + make_interval(secs => $3))`,
    [sha256(code), JSON.stringify(request), seconds],
  );
}

/** Returns the request for which a code was issued, but only once; undefined if the code is unknown, used or expired. */
export async function takeCode(client: Client, code: string): Promise<unknown> {
  const { rows } = await client.query<{ request: unknown }>(
    `DELETE FROM operations.dev_issuer_codes WHERE code_sha256 = $1 AND expires_at > now() RETURNING request`,
    [sha256(code)],
  );
  return rows[0]?.request;
}

function sha256(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}
