/**
 * Exchanges an authorization code for tokens, in one statement. The chain's row counts uses. The first exchange gets tokens if
 * it matches the values to which the code is bound. A failed exchange uses up the code, and a second exchange revokes the
 * tokens from the first (RFC 6749, section 4.1.3; RFC 9700, section 4.5; docs/spec/decisions.md, section 9).
 */
import type { Pool } from 'pg';
import { newSecret, sha256 } from '../secrets.ts';
import { type Issued, type IssuedRow, REFRESH_TOKEN_DAYS, type Reused, readIssued } from './issued.ts';
import { GRANT_END, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';

/** An exchange that a client requests. */
export interface Exchange {
  readonly code: string;
  /** The id of the authenticated client. */
  readonly applicationId: string;
  /** Undefined if the request lacks it or it is malformed; the exchange then fails and uses up the code. */
  readonly redirectUri: string | undefined;
  /** The `code_verifier`, hashed by S256: base64url of its SHA-256. Undefined in the same cases as `redirectUri`. */
  readonly challenge: string | undefined;
  /** Resources to which the tokens are narrowed; if empty, the tokens are for the resources in the authorization request. */
  readonly resources: readonly string[];
}

/** Why an exchange failed. `reused`: the code had already been presented; any tokens from it are now revoked. */
export type ExchangeFault =
  | 'unknown'
  | 'reused'
  | 'expired'
  | 'redirect_uri'
  | 'verifier'
  | 'resource'
  | 'ended';

/** An exchange that resulted in no tokens. */
export interface FailedExchange {
  readonly fault: ExchangeFault;
  /** Set if an earlier exchange of the code resulted in tokens, even if a different client presents the code now. */
  readonly reused?: Reused;
}

interface Row extends IssuedRow {
  readonly code_uses: number;
  readonly own: boolean;
  readonly timely: boolean;
  readonly redirects: boolean;
  readonly proven: boolean;
  readonly within: boolean;
  readonly chain_record: string;
  readonly chain_grant: string;
}

// PostgreSQL computes the expressions in an UPDATE from the newest version of the row, even after waiting for another
// exchange, so parallel exchanges count 1, 2, … If the first exchange used up the code without issuing tokens, the count is
// -1, -2, …
const EXCHANGE = `
with presented as materialized (
  select c.id, c.scope, c.auth_time, k.nonce, ' ' || c.scope || ' ' like '% offline_access %' as offline,
         case when cardinality($5::text[]) = 0 then c.resource else $5::text[] end as resource,
         c.application_id = $2 as own, k.expires_at > now() as timely,
         coalesce(k.redirect_uri = $3, false) as redirects, coalesce(k.challenge = $4, false) as proven,
         cardinality(c.resource) = 0 or $5::text[] <@ c.resource as within
    from operations.oauth_code k join operations.oauth_chain c on c.id = k.chain
   where k.sha256 = $1
), granted as materialized (
  select g.grant_id, g.patient, g.pairwise_subject, g.granted_by, g.record, ${GRANT_END} as ends
    from presented join operations.oauth_chain c on c.id = presented.id
  ${LIVE_GRANT}
   where ${OWNER_LIVE} and own and timely and redirects and proven and within
), taken as (
  update operations.oauth_chain c
     set code_uses = case when c.code_uses > 0 or c.code_uses = 0 and g.grant_id is not null then least(c.code_uses + 1, 2)
                          else greatest(c.code_uses - 1, -2) end,
         revoked_at = case when c.code_uses = 0 and g.grant_id is not null then c.revoked_at
                           else coalesce(c.revoked_at, now()) end,
         refresh_sha256 = case when c.code_uses = 0 and offline and g.grant_id is not null then $7::bytea else c.refresh_sha256 end,
         expires_at = greatest(c.expires_at,
           least(g.ends, now() + case when offline then make_interval(days => $8::int) else interval '30 minutes' end))
    from presented left join granted g on true
   where c.id = presented.id
  returning c.*
), inserted as (
  insert into operations.oauth_token
    (sha256, kind, chain, application_id, project, environment, scope, resource, issued_at, expires_at)
  select made.sha256, made.kind, t.id, t.application_id, t.project, t.environment, t.scope,
         case when made.kind = 'access' then presented.resource else t.resource end, now(),
         least(g.ends, now() + made.lifetime)
    from taken t, presented, granted g,
         (values ($6::bytea, 'access', interval '30 minutes'), ($7::bytea, 'refresh', make_interval(days => $8::int)))
           as made (sha256, kind, lifetime)
   where t.code_uses = 1 and t.revoked_at is null and (made.kind = 'access' or offline)
  returning kind, expires_at
)
select taken.code_uses, own, timely, redirects, proven, within,
       taken.record as chain_record, taken.grant_id as chain_grant, presented.scope, offline, presented.nonce, extract(epoch from presented.auth_time)::float8 as auth_time,
       g.grant_id, g.patient, g.pairwise_subject, g.granted_by, g.record,
       floor(extract(epoch from i.expires_at - now()))::int4 as expires_in
  from presented join taken on true left join granted g on true
  left join inserted i on i.kind = 'access'`;

/**
 * Exchanges a code.
 * @param refreshDays lifetime of a refresh token
 * @returns the tokens, or why there are none; the code is used up in either case
 */
export async function exchangeCode(
  pool: Pool,
  asked: Exchange,
  refreshDays: number = REFRESH_TOKEN_DAYS,
): Promise<Issued | FailedExchange> {
  const [accessToken, refreshToken] = [newSecret('at_'), newSecret('rt_')];
  const { rows } = await pool.query<Row>({
    name: 'oauth-exchange-code',
    text: EXCHANGE,
    values: [
      sha256(asked.code),
      asked.applicationId,
      asked.redirectUri ?? null,
      asked.challenge ?? null,
      asked.resources,
      sha256(accessToken),
      sha256(refreshToken),
      refreshDays,
    ],
  });
  const [row] = rows;
  if (row === undefined) return { fault: 'unknown' };
  const issued = readIssued(row, { accessToken, refreshToken });
  if (issued !== undefined) return issued;
  const fault = findFault(row);
  return row.code_uses > 1
    ? { fault, reused: { record: row.chain_record, grantId: row.chain_grant } }
    : { fault };
}

function findFault({ code_uses, own, timely, redirects, proven, within }: Row): ExchangeFault {
  if (!own) return 'unknown';
  if (Math.abs(code_uses) > 1) return 'reused';
  if (!timely) return 'expired';
  if (!redirects) return 'redirect_uri';
  if (!proven) return 'verifier';
  return within ? 'ended' : 'resource';
}
