/** Rows that codes and tokens require: a project, an application and a grant, as in the read models. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { issueCode, type NewCode } from '#src/oauth/tokens/codes.ts';
import type { Exchange } from '#src/oauth/tokens/exchange-code.ts';

/** An application with an active grant. */
export interface GrantedApplication {
  readonly applicationId: string;
  readonly clientId: string;
  readonly project: string;
  /** The project that owns the record. */
  readonly owner: string;
  readonly grantId: string;
  readonly record: string;
  /** The pairwise Patient id. */
  readonly patient: string;
  /** The pairwise `sub`. */
  readonly subject: string;
}

/** Adds an application in a project of its own, with a grant that lasts the given number of seconds. */
export async function addGrantedApplication(
  pool: Pool,
  { seconds = 30 * 86_400, grantedBy = 'patient' }: { seconds?: number; grantedBy?: string } = {},
): Promise<GrantedApplication> {
  const id = randomBytes(8).toString('hex');
  const made: GrantedApplication = {
    applicationId: `app_${id}`,
    clientId: `client_test_${id}`,
    project: `proj_${id}`,
    owner: `proj_owner_${id}`,
    grantId: `grant_${id}`,
    record: randomUUID(),
    patient: randomUUID(),
    subject: `sub-${id}`,
  };
  await pool.query(
    `insert into projects.project (id, organization, name, created_at)
     values ($1, 'org_1', 'Applications', 1), ($2, 'org_2', 'Records', 1)`,
    [made.project, made.owner],
  );
  await pool.query(
    `insert into projects.application
       (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, trusted, created_at)
     values ($1, $2, $3, 'App', 'sandbox', 'public', '{}', '{}', '{}', false, 1)`,
    [made.applicationId, made.project, made.clientId],
  );
  await addGrant(pool, made, { seconds, grantedBy });
  return made;
}

/** Adds a grant to the read model. */
export async function addGrant(
  pool: Pool,
  made: GrantedApplication,
  { seconds, grantedBy = 'patient' }: { seconds: number; grantedBy?: string },
): Promise<void> {
  await pool.query(
    `insert into consents.grants
       (grant_id, record, application_id, project, environment, sector, issuer, subject, patient,
        pairwise_subject, scopes, purpose, granted_by, granted_at, expires_at, lang, sentences, owner_project,
        owner_environment)
     values ($1, $2, $3, $4, 'sandbox', $3, 'https://issuer.example', 'someone', $5, $6, '{}', null, $7,
             (extract(epoch from now()) * 1000000)::int8,
             (extract(epoch from now()) * 1000000)::int8 + ($8::float8 * 1000000)::int8, 'en', '{}', $9, 'sandbox')`,
    [
      made.grantId,
      made.record,
      made.applicationId,
      made.project,
      made.patient,
      made.subject,
      grantedBy,
      seconds,
      made.owner,
    ],
  );
}

/** The redirect URI of all codes in these tests. */
export const REDIRECT = 'https://app.example/callback';

/** An authorization code, and what is needed to exchange it. */
export interface CodeInHand {
  readonly code: string;
  readonly verifier: string;
  /** Exchanges it. */
  readonly exchange: Exchange;
}

/** Issues a code for a grant. */
export async function codeFor(
  pool: Pool,
  made: GrantedApplication,
  asked: Partial<NewCode> = {},
): Promise<CodeInHand> {
  const verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const code = await issueCode(pool, {
    client: { applicationId: made.applicationId, project: made.project, environment: 'sandbox' },
    grantId: made.grantId,
    record: made.record,
    redirectUri: REDIRECT,
    challenge,
    scope: 'offline_access openid patient/*.rs',
    resources: [],
    ...asked,
  });
  if (code === undefined) throw new Error('the grant has ended');
  const exchange = {
    code,
    applicationId: made.applicationId,
    redirectUri: REDIRECT,
    challenge,
    resources: [],
  };
  return { code, verifier, exchange };
}
