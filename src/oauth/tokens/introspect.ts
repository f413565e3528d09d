/** Answers introspection requests about tokens (RFC 7662; docs/spec/decisions.md, section 9). */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import { sha256 } from '../secrets.ts';
import { GRANT_END, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';

export interface ActiveToken {
  readonly kind: 'access' | 'refresh';
  readonly applicationId: string;
  readonly clientId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly scope: string;
  readonly resources: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** Undefined for client credentials. */
  readonly grant:
    | {
        readonly grantId: string;
        readonly patient: string;
        readonly subject: string;
        /** True if the record is the person's own, not a dependent's. */
        readonly own: boolean;
      }
    | undefined;
}

interface Row {
  readonly kind: 'access' | 'refresh';
  readonly application_id: string;
  readonly client_id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly scope: string;
  readonly resource: string[];
  readonly issued_at: number;
  readonly expires_at: number;
  readonly grant_id: string | null;
  readonly patient: string | null;
  readonly pairwise_subject: string | null;
  readonly granted_by: string | null;
}

const TOKEN = `
  t.kind, t.application_id, a.client_id, t.project, t.environment, t.scope, t.resource,
  floor(extract(epoch from t.issued_at))::float8 as issued_at`;

const INTROSPECT = `
select ${TOKEN}, floor(extract(epoch from least(t.expires_at, ${GRANT_END})))::float8 as expires_at,
       g.grant_id, g.patient, g.pairwise_subject, g.granted_by
  from operations.oauth_token t
  join operations.oauth_chain c on c.id = t.chain and c.revoked_at is null
${LIVE_GRANT}
 where t.sha256 = $1 and t.revoked_at is null and t.expires_at > now()
   and (t.kind = 'access' or t.sha256 = c.refresh_sha256) and ${OWNER_LIVE}
union all
select ${TOKEN}, floor(extract(epoch from t.expires_at))::float8, null, null, null, null
  from operations.oauth_token t
  join projects.application a on a.id = t.application_id and a.deleted_at is null
  join projects.project p on p.id = a.project and p.deleted_at is null
 where t.sha256 = $1 and t.chain is null and t.revoked_at is null and t.expires_at > now()`;

/** Returns a token's data; undefined unless the token currently works. */
export async function introspectToken(pool: Pool, token: string): Promise<ActiveToken | undefined> {
  const { rows } = await pool.query<Row>({
    name: 'oauth-introspect',
    text: INTROSPECT,
    values: [sha256(token)],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const { grant_id: grantId, patient, pairwise_subject: subject } = row;
  return {
    kind: row.kind,
    applicationId: row.application_id,
    clientId: row.client_id,
    project: row.project,
    environment: row.environment,
    scope: row.scope,
    resources: row.resource,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    grant:
      grantId === null || patient === null || subject === null
        ? undefined
        : { grantId, patient, subject, own: row.granted_by !== 'representative' },
  };
}
