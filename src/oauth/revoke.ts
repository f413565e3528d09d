/** Revokes tokens before they expire, and deletes their rows. */
import type { Pool } from 'pg';
import { forgetAccessRequests, sweepAccessRequests } from './backchannel/tables.ts';
import { sha256 } from './secrets.ts';

// Revoking a refresh token ends its chain, whose row is read whenever any token in the chain is used.
const REVOKE = `
with presented as materialized (
  select t.sha256, t.kind, t.chain from operations.oauth_token t where t.sha256 = $1 and t.application_id = $2
), chains as (
  update operations.oauth_chain c set revoked_at = coalesce(c.revoked_at, now())
    from presented where presented.kind = 'refresh' and c.id = presented.chain
), of_member as (
  update operations.member_token m set revoked_at = coalesce(m.revoked_at, now()) where m.sha256 = $1
)
update operations.oauth_token t set revoked_at = coalesce(t.revoked_at, now())
  from presented where presented.kind = 'access' and t.sha256 = presented.sha256`;

/**
 * Revokes an application's token: a refresh token together with all tokens in its chain, but an access token alone. Does
 * nothing for an unknown token or for another application's token (RFC 7009, section 2; docs/spec/decisions.md, section 9). A
 * member's token belongs to no application, so anyone who has it may revoke it.
 */
export async function revokeToken(pool: Pool, token: string, applicationId: string): Promise<void> {
  await pool.query({ name: 'oauth-revoke', text: REVOKE, values: [sha256(token), applicationId] });
}

/** Deletes all of a record's codes and tokens, and the access requests that name it, when the record is purged. */
export async function forgetRecord(pool: Pool, record: string): Promise<void> {
  await pool.query('delete from operations.oauth_chain where record = $1', [record]);
  await forgetAccessRequests(pool, record);
}

/**
 * Deletes expired codes, tokens and access requests. Used refresh tokens are kept until they expire, so that their reuse can
 * be detected.
 */
export async function sweepTokens(pool: Pool): Promise<void> {
  await pool.query('delete from operations.oauth_chain where expires_at < now()');
  await pool.query('delete from operations.oauth_token where expires_at < now()');
  await pool.query('delete from operations.member_token where expires_at < now()');
  await sweepAccessRequests(pool);
}
