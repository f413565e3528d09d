/** Members' access tokens, with which the dashboard shows a project's data (docs/admin.md, "Tokens for members"). */
import type { Pool } from 'pg';
import { selectMembership } from '#queries/admin/membership.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { ROLES, suffices, TO_WRITE, verifiedDomain } from '#src/shared/access/member.ts';
import { sha256 } from '../secrets.ts';

/** Lifetime of a member's token, in seconds. */
export const MEMBER_TOKEN_S = 900;

/** The condition that the role `m.role` is sufficient in the environment of the token `t`. */
const ROLE_SUFFICES = (['sandbox', 'production'] as const)
  .map((environment) => {
    const roles = ROLES.filter((role) => suffices(role, TO_WRITE[environment]));
    return `t.environment = '${environment}' and m.role in (${roles.map((role) => `'${role}'`).join(', ')})`;
  })
  .join(' or ');

/**
 * Joins for a statement whose token is `t`. A row remains only while the project exists and the person is a member whose role
 * is sufficient for the environment, according to the organization's current settings.
 */
export const LIVE_MEMBER = `
  join projects.project p on p.id = t.project and p.deleted_at is null
  join projects.organization g on g.id = p.organization
  cross join lateral (select case
      when t.sso_client is null then null
      when g.sso_issuer = t.issuer and g.sso_client_id = t.sso_client then array[g.id]
      else '{}'::text[] end as organizations) s
  join lateral ${selectMembership({
    issuer: 't.issuer',
    subject: 't.subject',
    domain: 't.domain',
    organizations: 's.organizations',
  })} m on m.organization = p.organization and (${ROLE_SUFFICES})`;

/** A token that a member requests. */
export interface NewMemberToken {
  readonly identity: Identity;
  readonly project: string;
  readonly environment: Environment;
  readonly scopes: readonly ('read' | 'write')[];
  /** 256 bits from a CSPRNG; a repeated attempt uses the same bits. */
  readonly secret: Buffer;
}

// For an organization without a client, the value would otherwise be null, which would mean that the installation trusts the
// ID token.
const ISSUE = `
insert into operations.member_token
  (sha256, issuer, subject, domain, sso_client, project, environment, scopes, expires_at)
select $1, $2, $3, $4, case when $5 then coalesce(g.sso_client_id, '') end, p.id, $7, $8,
       now() + interval '${MEMBER_TOKEN_S} seconds'
  from projects.project p join projects.organization g on g.id = p.organization
 where p.id = $6
on conflict (sha256) do nothing`;

/** Issues a token. Doesn't check the role, because each request that uses the token does. */
export async function issueMemberToken(pool: Pool, asked: NewMemberToken): Promise<string> {
  const { identity, project, environment, scopes, secret } = asked;
  const token = `at_${secret.toString('base64url')}`;
  await pool.query({
    name: 'member-token-issue',
    text: ISSUE,
    values: [
      sha256(token),
      identity.issuer,
      identity.subject,
      verifiedDomain(identity) ?? '',
      identity.organizations !== undefined,
      project,
      environment,
      scopes,
    ],
  });
  return token;
}
