/** Issues authorization codes (RFC 6749, section 4.1.2; docs/spec/interface.md, section 5). */
import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/tenant.ts';
import { newSecret, sha256 } from './secrets.ts';

/** The application that a code or token is for. */
export interface TokenClient {
  readonly applicationId: string;
  readonly project: string;
  readonly environment: Environment;
}

/** What a person allowed, and what the code is bound to. */
export interface NewCode {
  readonly client: TokenClient;
  readonly grantId: string;
  /** The record's own Patient id. */
  readonly record: string;
  /** Exactly as in the authorization request. */
  readonly redirectUri: string;
  /** `code_challenge` by S256 (RFC 7636). */
  readonly challenge: string;
  /** What was granted, normalised. */
  readonly scope: string;
  /** RFC 8707; empty: the whole service. */
  readonly resources: readonly string[];
  /** When the person signed in, in seconds since 1970. */
  readonly authTime?: number | undefined;
}

const ISSUE = `
with chain as (
  insert into operations.oauth_chain
    (id, grant_id, application_id, project, environment, record, scope, resource, auth_time, expires_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9::float8), now() + interval '10 minutes')
  returning id, expires_at
)
insert into operations.oauth_code (sha256, chain, redirect_uri, challenge, expires_at)
select $10, id, $11, $12, expires_at from chain`;

/** Issues a code for a grant. It works once, within 10 minutes, as long as the grant is active. */
export async function issueCode(pool: Pool, asked: NewCode): Promise<string> {
  const code = newSecret('');
  const { client, authTime } = asked;
  await pool.query({
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
    ],
  });
  return code;
}
