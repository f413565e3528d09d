/** Routes for organizations: create, read, confirm a domain. */
import { z } from 'zod';
import type { OrganizationRow } from '#queries/admin/organizations.ts';
import { verifiedDomain } from '#src/shared/access/member.ts';
import { isPublicMailDomain } from '#src/shared/public-mail.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { organizationFor, requireInstallationsTrust, toAuthor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';
import { name, organizationSchema } from './schemas.ts';
import { readSso } from './sso.ts';

const TAG = 'Organizations';

/**
 * Formats an organization for a response. A confirmed domain is left out if it was confirmed before its provider was
 * recognized as a public one.
 */
export function organizationView(row: OrganizationRow): z.input<typeof organizationSchema> {
  const { confirmed_domain } = row;
  return {
    id: row.id,
    name: row.name,
    role: row.role,
    confirmed_domain:
      confirmed_domain === null || isPublicMailDomain(confirmed_domain) ? null : confirmed_domain,
    sso: readSso(row),
    created_at: toInstantOrNull(row.created_at) ?? '',
  };
}

/** Returns the row for a new organization, whose only member is its creator. */
export function newOrganization(id: string, named: string, at: number): OrganizationRow {
  return {
    id,
    name: named,
    created_at: at,
    role: 'owner',
    sso_issuer: null,
    sso_client_id: null,
    sso_domains: null,
    confirmed_domain: null,
  };
}

/** Routes for organizations. */
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
      const { result, wrote } = await services.admin.createOrganization(toAuthor(request), body.name, {
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
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(organizationSchema) } },
    async run({ services, identity, query }) {
      return listed(await services.adminQueries.organizations(identity, query), organizationView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}',
    operationId: 'getOrganization',
    summary: 'An organization',
    description: 'Returns the organization to its members; for anyone else, the answer is 404.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The organization', schema: organizationSchema } },
    async run(request) {
      const row = await organizationFor(request, request.params.org_id, 'member');
      return { status: 200, body: organizationView(row) };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/verify',
    operationId: 'confirmDomain',
    summary: 'Confirm the domain of an organization by the e-mail address of one of its owners',
    description:
      'The ID token must have an e-mail address with `email_verified`. If the organization has single sign-on, the address must be at one of its domains. Domains of public mail providers can’t be confirmed (422), nor can domains below them. People see the domain on the consent page. It doesn’t confirm the organization’s name.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The organization', schema: organizationSchema } },
    async run(request) {
      const { services, identity, params } = request;
      const row = await organizationFor(request, params.org_id, 'owner');
      requireInstallationsTrust(identity, 'confirming a domain');
      const domain = verifiedDomain(identity);
      if (domain === undefined) {
        throw new Refusal('forbidden', {
          code: 'forbidden',
          diagnostics:
            'confirming a domain requires an ID token with email_verified: the issuer must have verified the e-mail address',
        });
      }
      const { wrote } = await services.admin.confirmDomain(toAuthor(request), row.id, domain);
      const confirmed = { ...row, confirmed_domain: domain };
      return { status: 200, body: organizationView(confirmed), position: wrote?.position };
    },
  }),
];
