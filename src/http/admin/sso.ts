/** Single sign-on for organizations: configures where an organization's members sign in. */
import { z } from 'zod';
import type { OrganizationRow } from '#queries/admin/organizations.ts';
import { ownIssuers } from '#src/dev-issuer/dev-issuer.ts';
import { isIssuerUrl, isSameIssuer } from '#src/shared/access/issuers.ts';
import { emailDomain, verifiedDomain } from '#src/shared/access/member.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { organizationFor, requireInstallationsTrust, toAuthor } from './access.ts';
import { ssoSchema } from './schemas.ts';

const TAG = 'Single sign-on';

/** Returns an organization's SSO settings; null if it has none. */
export function readSso(
  row: Pick<OrganizationRow, 'sso_issuer' | 'sso_client_id' | 'sso_domains'>,
): z.input<typeof ssoSchema> | null {
  const { sso_issuer: issuer, sso_client_id: client_id, sso_domains } = row;
  if (issuer === null || client_id === null) return null;
  return { issuer, client_id, domains: [...(sso_domains ?? [])] };
}

/** RFC 1123, with at least two labels. */
const DOMAIN = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

const settings = z
  .strictObject({
    issuer: z.string().max(500).refine(isIssuerUrl, {
      error: 'must be an https URL (http only on localhost) without user, query and fragment',
    }),
    client_id: z.string().trim().min(1).max(255).describe('`aud` of its ID tokens.'),
    domains: z
      .array(z.string().trim().toLowerCase().regex(DOMAIN, 'must be a domain name'))
      .max(50)
      .refine((all) => new Set(all).size === all.length, { error: 'must not repeat a domain' })
      .describe(
        'E-mail domains of the organization’s people; each belongs to one organization. The organization’s current domains and the caller’s own domain are allowed.',
      ),
  })
  .meta({ examples: [{ issuer: 'https://login.example.org', client_id: 'annal-dashboard', domains: [] }] });

const discovered = ssoSchema
  .omit({ domains: true })
  .extend({ organization: z.string().describe('Its name.') });

/**
 * Refuses this service as an issuer, because its ID tokens are for applications.
 * @throws Refusal invalid (422)
 */
function refuseOwnIssuer(issuer: string, baseUrl: string): void {
  if (!isSameIssuer(issuer, ownIssuers(baseUrl))) return;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: "issuer must be your organization's identity provider, not this service",
    expression: 'issuer',
  });
}

/** Routes for SSO settings. */
export const SSO_ROUTES = [
  route({
    method: 'PUT',
    path: '/admin/organizations/{org_id}/sso',
    operationId: 'putSso',
    summary: 'Set the issuer that the people of an organization sign in with',
    description:
      'A person with a verified e-mail address in one of the domains, who signs in with this issuer, is a developer of the organization. Only an owner can change `issuer` and `client_id` (403 otherwise). A domain that is new to the organization must be the domain of the caller’s verified e-mail address, in an ID token from an issuer that the installation trusts (403 otherwise). Another organization’s domain is refused (409), and a new domain that belongs to a public mail provider is invalid (422). If the settings leave out the confirmed domain, its confirmation ends.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: settings,
    answers: { 200: { description: 'The settings', schema: ssoSchema } },
    async run(request) {
      const { services, identity, params, body } = request;
      const { id, role } = await organizationFor(request, params.org_id, 'admin');
      requireInstallationsTrust(identity, 'setting single sign-on');
      refuseOwnIssuer(body.issuer, services.config.baseUrl);
      const claim = { role, domain: verifiedDomain(identity) };
      const { wrote } = await services.admin.configureSso(toAuthor(request), id, body, claim);
      return { status: 200, body, position: wrote?.position, awaited: true };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/sso/discover',
    operationId: 'discoverSso',
    summary: 'Where the owner of an e-mail address signs in',
    description:
      'Returns the issuer that an organization has set up for the address’s domain; 404 if there is none.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject({ email: z.string().max(320) }),
    answers: { 200: { description: 'The issuer', schema: discovered } },
    async run({ services, query }) {
      const domain = emailDomain(query.email);
      if (domain === undefined) {
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: 'query.email must be an e-mail address',
          expression: 'query.email',
        });
      }
      const found = await services.adminQueries.readSso(domain);
      if (found === undefined) {
        throw new Refusal('not_found', {
          code: 'not-found',
          diagnostics: 'no organization has single sign-on for this domain',
        });
      }
      const answer: z.input<typeof discovered> = found;
      return { status: 200, body: answer };
    },
  }),
];
