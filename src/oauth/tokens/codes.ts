/** Issues authorization codes (RFC 6749, section 4.1.2; docs/spec/interface.md, section 5). */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { newSecret, sha256 } from '../secrets.ts';
import { HOLD_GRANT, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';

/** The application that a code or token is for. */
export interface TokenClient {
  readonly applicationId: string;
  readonly project: string;
  readonly environment: Environment;
}

/** The access that a person gave an application. */
export interface Allowed {
  readonly client: TokenClient;
  readonly grantId: string;
  /** The id of the record's Patient. */
  readonly record: string;
  /** The granted scopes, normalised. */
  readonly scope: string;
  /** The resources from RFC 8707; empty means the whole service. */
  readonly resources: readonly string[];
  /** When the person signed in, in seconds since 1970. */
  readonly authTime?: number | undefined;
}

/** The access that a person gave, and the values to which the code is bound. */
export interface NewCode extends Allowed {
  /** Exactly as in the authorization request. */
  readonly redirectUri: string;
  /** The `code_challenge`, which uses S256 (RFC 7636). */
  readonly challenge: string;
  /** For the ID token. */
  readonly nonce?: string | undefined;
}

// The grant's row stays locked until the code is written, because a purge deletes that row before it deletes codes.
const ISSUE = `
with c as materialized (
  select $1::uuid as id, $2::text as grant_id, $3::text as application_id, $6::uuid as record
), granted as materialized (
  select c.* from c
  ${LIVE_GRANT}
   where ${OWNER_LIVE}
   ${HOLD_GRANT}
), chain as (
  insert into operations.oauth_chain
    (id, grant_id, application_id, project, environment, record, scope, resource, auth_time, expires_at)
  select id, grant_id, application_id, $4, $5, record, $7, $8, to_timestamp($9::float8), now() + interval '10 minutes'
    from granted
  returning id, expires_at
)
insert into operations.oauth_code (sha256, chain, redirect_uri, challenge, nonce, expires_at)
select $10, id, $11, $12, $13, expires_at from chain`;

/**
 * Issues a code for a grant; undefined if the grant isn't active. The code works once, within 10 minutes, as long as the
 * grant is active.
 */
export async function issueCode(pool: Pick<Pool, 'query'>, asked: NewCode): Promise<string | undefined> {
  const code = newSecret('');
  const { client, authTime } = asked;
  const { rowCount } = await pool.query({
    name: 'oauth-issue-code',
    text: ISSUE,
    values: [
      randomUUID(),
      asked.grantId,
      client.applicationId,
      client.project,
      client.environment,
      asked.record,
      asked.scope,
      asked.resources,
      authTime ?? null,
      sha256(code),
      asked.redirectUri,
      asked.challenge,
      asked.nonce ?? null,
    ],
  });
  return rowCount === 1 ? code : undefined;
}
