/** Issues tokens without a code: for client credentials, and for a grant that was made by the identity grant type. */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { newSecret, sha256 } from '../secrets.ts';
import type { Allowed, TokenClient } from './codes.ts';
import { type Issued, type IssuedRow, REFRESH_TOKEN_DAYS, readIssued } from './issued.ts';
import { GRANT_END, HOLD_GRANT, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';

const ISSUE_CLIENT_TOKEN = `
insert into operations.oauth_token
  (sha256, kind, application_id, project, environment, scope, resource, issued_at, expires_at)
values ($1, 'access', $2, $3, $4, $5, $6, now(), now() + interval '30 minutes')`;

/** Lifetime of an access token, in seconds (docs/spec/interface.md, section 8). */
export const ACCESS_TOKEN_S = 1800;

/** Issues an access token for the application itself (RFC 6749, section 4.4), without a refresh token. */
export async function issueClientToken(
  pool: Pool,
  client: TokenClient,
  scope: string,
  resources: readonly string[],
): Promise<{ readonly accessToken: string; readonly expiresIn: number }> {
  const accessToken = newSecret('at_');
  await pool.query({
    name: 'oauth-issue-client-token',
    text: ISSUE_CLIENT_TOKEN,
    values: [sha256(accessToken), client.applicationId, client.project, client.environment, scope, resources],
  });
  return { accessToken, expiresIn: ACCESS_TOKEN_S };
}

// The grant's row stays locked until the tokens are written, as when a code is issued.
const ISSUE_GRANT_TOKENS = `
with c as materialized (
  select $1::uuid as id, $2::text as grant_id, $3::text as application_id, $4::uuid as record,
         ' ' || $8::text || ' ' like '% offline_access %' as offline
), granted as materialized (
  select c.id, c.offline, g.*, ${GRANT_END} as ends from c
  ${LIVE_GRANT}
   where ${OWNER_LIVE}
   ${HOLD_GRANT}
), chain as (
  insert into operations.oauth_chain
    (id, grant_id, application_id, project, environment, record, scope, resource, auth_time, code_uses,
     refresh_sha256, expires_at)
  select g.id, g.grant_id, g.application_id, $5, $6, g.record, $8, $9, to_timestamp($10::float8), 2,
         case when g.offline then $11::bytea end,
         least(g.ends, now() + case when g.offline then make_interval(days => $12::int) else interval '30 minutes' end)
    from granted g
  returning id
), inserted as (
  insert into operations.oauth_token
    (sha256, kind, chain, application_id, project, environment, scope, resource, issued_at, expires_at)
  select made.sha256, made.kind, chain.id, g.application_id, $5, $6, $8, $9, now(),
         least(g.ends, now() + made.lifetime)
    from chain, granted g,
         (values ($7::bytea, 'access', interval '30 minutes'), ($11::bytea, 'refresh', make_interval(days => $12::int)))
           as made (sha256, kind, lifetime)
   where made.kind = 'access' or g.offline
  returning kind, expires_at
)
select $8::text as scope, g.offline, $10::float8 as auth_time, g.grant_id, g.patient, g.pairwise_subject,
       g.granted_by, floor(extract(epoch from i.expires_at - now()))::int4 as expires_in
  from granted g join inserted i on i.kind = 'access'`;

/**
 * Issues a grant's tokens without a code; undefined if the grant isn't active.
 * @param refreshDays lifetime of a refresh token
 */
export async function issueGrantTokens(
  pool: Pick<Pool, 'query'>,
  asked: Allowed,
  refreshDays: number = REFRESH_TOKEN_DAYS,
): Promise<Issued | undefined> {
  const [accessToken, refreshToken] = [newSecret('at_'), newSecret('rt_')];
  const { client } = asked;
  const { rows } = await pool.query<IssuedRow>({
    name: 'oauth-issue-grant-tokens',
    text: ISSUE_GRANT_TOKENS,
    values: [
      randomUUID(),
      asked.grantId,
      client.applicationId,
      asked.record,
      client.project,
      client.environment,
      sha256(accessToken),
      asked.scope,
      asked.resources,
      asked.authTime ?? null,
      sha256(refreshToken),
      refreshDays,
    ],
  });
  const [row] = rows;
  return row && readIssued(row, { accessToken, refreshToken });
}
