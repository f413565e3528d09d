/** The condition under which the admin interface shows anything: membership in an organization. */
import type { Identity } from '#src/shared/identity.ts';
import { verifiedDomain } from '#src/shared/member.ts';

/**
 * The organizations of an identity, a table expression of (organization, role); `$1` to `$4` are `membershipValues`. A
 * person is a member by name, or a developer if the organization trusts the issuer that verified an address in one of
 * its domains. A person removed by name isn't a developer. With a token that only organizations trust, everyone is a
 * developer at most, because the owner of their issuer could issue one for any member. Index: projects.member_of
 * (issuer, subject), projects.organization_sso_domains.
 */
export const MEMBERSHIP = `(
  select m.organization, case when $4::text[] is null then m.role else 'developer' end as role from projects.member m
  where m.issuer = $1 and m.subject = $2 and m.role is not null
    and ($4::text[] is null or m.organization = any($4))
  union all
  select o.id, 'developer' from projects.organization o
  where o.sso_domains @> array[$3::text] and o.sso_issuer = $1
    and ($4::text[] is null or o.id = any($4))
    and not exists (select from projects.member m
      where m.organization = o.id and m.issuer = $1 and m.subject = $2)
)`;

/** Returns the parameters `$1` to `$4`. */
export function membershipValues(identity: Identity): readonly unknown[] {
  // No organization has the empty domain.
  return [identity.issuer, identity.subject, verifiedDomain(identity) ?? '', identity.organizations ?? null];
}
