/**
 * Exchanges a refresh token for new tokens, in one statement. The chain's row contains the hash of the only refresh token that
 * works. Exactly one of several parallel requests replaces that hash; any other request that presents a used token ends the
 * chain (RFC 9700, section 4.14; docs/spec/decisions.md, section 9).
 */
import type { Pool } from 'pg';
import { newSecret, sha256 } from '../secrets.ts';
import { type Issued, type IssuedRow, REFRESH_TOKEN_DAYS, type Reused, readIssued } from './issued.ts';
import { GRANT_END, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';

export interface RefreshTokenState {
  /** The granted scopes. A request may ask for fewer scopes, and a later refresh for all of them again. */
  readonly scope: string;
  readonly resources: readonly string[];
  /** True if the token is the chain's current token; presenting any other token ends the chain. */
  readonly current: boolean;
}

const FIND = `
select t.scope, t.resource, coalesce(c.refresh_sha256 = t.sha256, false) as current
  from operations.oauth_token t join operations.oauth_chain c on c.id = t.chain
 where t.sha256 = $1 and t.kind = 'refresh' and t.application_id = $2`;

/** Returns a refresh token's state; undefined if the token is unknown or belongs to another application. */
export async function findRefreshToken(
  pool: Pool,
  token: string,
  applicationId: string,
): Promise<RefreshTokenState | undefined> {
  const { rows } = await pool.query<{ scope: string; resource: string[]; current: boolean }>({
    name: 'oauth-find-refresh-token',
    text: FIND,
    values: [sha256(token), applicationId],
  });
  const [row] = rows;
  return row && { scope: row.scope, resources: row.resource, current: row.current };
}

/** A refresh that a client requests. */
export interface Refresh {
  readonly token: string;
  /** The id of the authenticated client. */
  readonly applicationId: string;
  /** The new access token's scopes, which are within the granted scopes. */
  readonly scope: string;
  /** The new access token's resources, which are within the chain's resources. */
  readonly resources: readonly string[];
}

/** Why a refresh failed. `reused`: the token had already been used, so its chain has now ended. */
export type RefreshFault = 'unknown' | 'reused' | 'ended';

/** A refresh that resulted in no tokens. */
export interface FailedRefresh {
  readonly fault: RefreshFault;
  /** Set with `reused`. */
  readonly reused?: Reused;
}

// PostgreSQL computes the expressions in an UPDATE from the newest version of the row, even after waiting for another refresh.
// So the second of two parallel refreshes finds a different hash in the row.
const REFRESH = `
with presented as materialized (
  select t.chain from operations.oauth_token t
   where t.sha256 = $1 and t.kind = 'refresh' and t.application_id = $2
), granted as materialized (
  select g.grant_id, g.patient, g.pairwise_subject, g.granted_by, ${GRANT_END} as ends
    from operations.oauth_token t
    join operations.oauth_chain c on c.id = t.chain
  ${LIVE_GRANT}
   where t.sha256 = $1 and t.kind = 'refresh' and t.application_id = $2 and t.expires_at > now()
     and ${OWNER_LIVE}
), taken as (
  update operations.oauth_chain c
     set revoked_at = case when c.refresh_sha256 is distinct from $1 then coalesce(c.revoked_at, now())
                           else c.revoked_at end,
         refresh_sha256 = case when c.refresh_sha256 = $1 and c.revoked_at is null and g.grant_id is not null
                               then $6::bytea else c.refresh_sha256 end,
         expires_at = greatest(c.expires_at, least(g.ends, now() + make_interval(days => $7::int)))
    from presented left join granted g on true
   where c.id = presented.chain
  returning c.*
), inserted as (
  insert into operations.oauth_token
    (sha256, kind, chain, application_id, project, environment, scope, resource, issued_at, expires_at)
  select made.sha256, made.kind, t.id, t.application_id, t.project, t.environment, made.scope, made.resource,
         now(), least(g.ends, now() + made.lifetime)
    from taken t, granted g,
         lateral (values ($5::bytea, 'access', $3::text, $4::text[], interval '30 minutes'),
                         ($6::bytea, 'refresh', t.scope, t.resource, make_interval(days => $7::int)))
           as made (sha256, kind, scope, resource, lifetime)
   where t.refresh_sha256 = $6 and t.revoked_at is null
  returning kind, expires_at
)
select t.refresh_sha256 is distinct from $1 and t.refresh_sha256 is distinct from $6 as reused,
       t.record as chain_record, t.grant_id as chain_grant, $3::text as scope, true as offline, extract(epoch from t.auth_time)::float8 as auth_time,
       g.grant_id, g.patient, g.pairwise_subject, g.granted_by,
       floor(extract(epoch from i.expires_at - now()))::int4 as expires_in
  from taken t left join granted g on true
  left join inserted i on i.kind = 'access'`;

interface Row extends IssuedRow {
  readonly reused: boolean;
  readonly chain_record: string;
  readonly chain_grant: string;
}

/**
 * Exchanges a refresh token for an access token and the next refresh token.
 * @param refreshDays lifetime of the next refresh token
 */
export async function refresh(
  pool: Pool,
  asked: Refresh,
  refreshDays: number = REFRESH_TOKEN_DAYS,
): Promise<Issued | FailedRefresh> {
  const [accessToken, refreshToken] = [newSecret('at_'), newSecret('rt_')];
  const { rows } = await pool.query<Row>({
    name: 'oauth-refresh',
    text: REFRESH,
    values: [
      sha256(asked.token),
      asked.applicationId,
      asked.scope,
      asked.resources,
      sha256(accessToken),
      sha256(refreshToken),
      refreshDays,
    ],
  });
  const [row] = rows;
  if (row === undefined) return { fault: 'unknown' };
  const issued = readIssued(row, { accessToken, refreshToken });
  if (issued !== undefined || !row.reused) return issued ?? { fault: 'ended' };
  return { fault: 'reused', reused: { record: row.chain_record, grantId: row.chain_grant } };
}
