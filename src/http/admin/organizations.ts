/** Routes of organizations: create, read, verify. */
import { z } from 'zod';
import type { OrganizationRow } from '#queries/admin/organizations.ts';
import { verifiedDomain } from '#src/shared/member.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listOf } from '../api/schemas.ts';
import { by, organizationFor, requireInstallationsTrust } from './access.ts';
import { instantOf, listed } from './answers.ts';
import { name, organizationSchema } from './schemas.ts';
import { ssoOf } from './sso.ts';

const TAG = 'Organizations';

/** Returns an organization for an answer. */
export function organizationView(row: OrganizationRow): z.input<typeof organizationSchema> {
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    verified: row.verified_at !== null,
    verified_domain: row.verified_domain,
    sso: ssoOf(row),
    created_at: instantOf(row.created_at) ?? '',
  };
}

/** Returns the row of a new organization; its creator is the only member. */
export function newOrganization(id: string, named: string, at: number): OrganizationRow {
  return {
    id,
    name: named,
    created_at: at,
    role: 'owner',
    sso_issuer: null,
    sso_client_id: null,
    sso_domains: null,
    verified_domain: null,
    verified_at: null,
  };
}

/** Routes of organizations. */
export const ORGANIZATION_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/organizations',
    operationId: 'createOrganization',
    summary: 'Create an organization',
    description: 'The caller becomes its first owner.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z.strictObject({ name }).meta({ examples: [{ name: 'Lakeside Clinic' }] }),
    answers: { 201: { description: 'The organization', schema: organizationSchema } },
    async run(request) {
      const { identity, services, body, now } = request;
      requireInstallationsTrust(identity, 'creating an organization');
      const { result, wrote } = await services.admin.createOrganization(by(request), body.name, {
        issuer: identity.issuer,
        subject: identity.subject,
        email: identity.email,
      });
      return {
        status: 201,
        headers: { Location: `${services.config.baseUrl}/admin/organizations/${result.id}` },
        body: organizationView(newOrganization(result.id, body.name, wrote?.at ?? now())),
        position: wrote?.position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/organizations',
    operationId: 'listOrganizations',
    summary: 'Organizations that the caller is a member of, the newest first',
    description:
      'Answers a page; `next_cursor` leads to the next one, and nothing is skipped or shown twice while others write.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(organizationSchema) } },
    async run({ services, identity, query }) {
      return listed(await services.adminQueries.organizations(identity, query), organizationView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}',
    operationId: 'getOrganization',
    summary: 'An organization',
    description: 'Answers the organization to its members; to others it is 404.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The organization', schema: organizationSchema } },
    async run(request) {
      const row = await organizationFor(request, request.params.org_id, 'developer');
      return { status: 200, body: organizationView(row) };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/verify',
    operationId: 'verifyOrganization',
    summary: 'Verify an organization by the e-mail domain of one of its owners',
    description:
      'The ID token must have an e-mail address with `email_verified`; if the organization has single sign-on, in one of its domains.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The verified organization', schema: organizationSchema } },
    async run(request) {
      const { services, identity, params } = request;
      const row = await organizationFor(request, params.org_id, 'owner');
      requireInstallationsTrust(identity, 'verifying');
      const domain = verifiedDomain(identity);
      if (domain === undefined) {
        throw new Refusal('forbidden', {
          code: 'forbidden',
          diagnostics:
            'verifying requires an ID token with email_verified: the issuer must have verified the e-mail address',
        });
      }
      const { wrote } = await services.admin.verifyOrganization(by(request), row.id, domain);
      const verified = { ...row, verified_domain: domain, verified_at: wrote?.at ?? row.verified_at };
      return { status: 200, body: organizationView(verified), position: wrote?.position };
    },
  }),
];
