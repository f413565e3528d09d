/** The condition on which the admin interface shows anything: membership in an organization. */
import type { Identity } from '#src/shared/access/identity.ts';
import { verifiedDomain } from '#src/shared/access/member.ts';

/** SQL expressions for an identity: a person, and the organizations that trust the token's issuer. */
export interface IdentitySql {
  readonly issuer: string;
  readonly subject: string;
  /** The domain of a verified address; empty if there is none. */
  readonly domain: string;
  /** The organizations that trust the token; null if the installation trusts it. */
  readonly organizations: string;
}

/**
 * Returns an identity's organizations, as a table expression of (organization, role). A person is a member by name, or is a
 * developer if the organization trusts the issuer and that issuer has verified an address of the person in one of the
 * organization's domains. A person who was removed by name isn't a developer. With a token that only organizations trust,
 * everyone is at most a developer, because the issuer's owner could issue a token for any member. Auditors, who write nothing,
 * aren't members then. Index: projects.member_of (issuer, subject), projects.organization_sso_domains.
 */
export const selectMembership = ({ issuer, subject, domain, organizations }: IdentitySql): string => `(
  select m.organization, case when ${organizations}::text[] is null then m.role else 'developer' end as role
  from projects.member m
  where m.issuer = ${issuer} and m.subject = ${subject} and m.role is not null
    and (${organizations}::text[] is null or m.role <> 'auditor' and m.organization = any(${organizations}))
  union all
  select o.id, 'developer' from projects.organization o
  where o.sso_domains @> array[${domain}::text] and o.sso_issuer = ${issuer}
    and (${organizations}::text[] is null or o.id = any(${organizations}))
    and not exists (select from projects.member m
      where m.organization = o.id and m.issuer = ${issuer} and m.subject = ${subject})
)`;

/** The organizations of the identity given in parameters `$1` to `$4`: `membershipValues`. */
export const MEMBERSHIP = selectMembership({
  issuer: '$1',
  subject: '$2',
  domain: '$3',
  organizations: '$4',
});

/** Returns the parameters `$1` to `$4`. */
export function membershipValues(identity: Identity): readonly unknown[] {
  // No organization has the empty domain.
  return [identity.issuer, identity.subject, verifiedDomain(identity) ?? '', identity.organizations ?? null];
}
