/** Remembers the ids (`jti`) of client assertions for all instances, so that each works only once (RFC 7523, section 3). */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';

/** Migration that creates the table, in schema `operations`. */
export const CLIENT_ASSERTIONS_SQL = `
CREATE TABLE operations.client_assertion (
  application text NOT NULL,
  jti bytea NOT NULL,                  -- SHA-256
  expires_at timestamptz NOT NULL,     -- the assertion is refused by itself from then on
  PRIMARY KEY (application, jti)
);
`;

// When an application uses an id, the application's expired ids are deleted.
const USE = `
  with expired as (
    delete from operations.client_assertion
    where application = $1 and jti <> $2 and expires_at < now() - interval '1 minute')
  insert into operations.client_assertion (application, jti, expires_at) values ($1, $2, to_timestamp($3))
  on conflict (application, jti) do nothing`;

/**
 * Uses up an id.
 * @param expiresAt when the assertion expires, in seconds since 1970
 * @returns false if the id was already used
 */
export async function useAssertionId(
  pool: Pool,
  { application, jti, expiresAt }: { application: string; jti: string; expiresAt: number },
): Promise<boolean> {
  const hash = createHash('sha256').update(jti).digest();
  const { rowCount } = await pool.query({
    name: 'use-client-assertion',
    text: USE,
    values: [application, hash, expiresAt],
  });
  return rowCount === 1;
}
