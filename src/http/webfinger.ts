/**
 * Serves `/.well-known/webfinger`, which says where the owner of an e-mail address signs in. It is for people who haven't
 * signed in, and therefore have no ID token for `/admin/sso/discover` (docs/spec/decisions.md, section 2: `/.well-known/*`
 * takes no credential). https://openid.net/specs/openid-connect-discovery-1_0.html#IssuerDiscovery, RFC 7033
 */
import { z } from 'zod';
import { emailDomain } from '#src/shared/access/member.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { answerJson, nothingThere, openRoute } from './api/open-route.ts';

/** The link relation from an account to its issuer. */
export const ISSUER = 'http://openid.net/specs/connect/1.0/issuer';
/** A property of that link: the `aud` that the organization accepts in ID tokens from the issuer. */
export const CLIENT_ID = 'https://annal.dev/sso/client_id';

const URI = /^([a-z][a-z\d+.-]*):[\x21-\x7e]+$/i;
/** Maximum length of a resource, in characters. */
const MOST = 400;
const JRD = 'application/jrd+json';
/** RFC 7033, section 4.2. */
const UNKNOWN = 'no organization has single sign-on for this domain';

const account = z.object({
  subject: z.string(),
  links: z.array(
    z.looseObject({
      rel: z.literal(ISSUER),
      href: z.url(),
      properties: z.record(z.string(), z.string()),
    }),
  ),
});

/**
 * The routes. The response depends only on the address's domain, so it doesn't reveal who has an account. Pages from any
 * origin may call the routes (RFC 7033, section 5).
 */
export const WEBFINGER_ROUTES = [
  openRoute({
    method: 'GET',
    path: '/.well-known/webfinger',
    operationId: 'getWebfinger',
    summary: 'Where the owner of an e-mail address signs in',
    description: `OpenID Connect Discovery 1.0, section 2: the link \`${ISSUER}\` names the issuer.`,
    tag: 'Single sign-on',
    models: ['projects'],
    query: z.object({
      resource: z.string().max(MOST).describe('`acct:` and the address.'),
      rel: z.array(z.string()).optional().describe('The relations of the links to return; default: all.'),
    }),
    answers: {
      200: { description: 'The links of the account', content: { [JRD]: account } },
    },
    errors: [400, 404, 503],
    async run({ service, query }) {
      const resource = query.get('resource') ?? '';
      const scheme = URI.exec(resource)?.[1]?.toLowerCase();
      if (scheme === undefined || resource.length > MOST || query.getAll('resource').length > 1)
        throw noAccount();
      if (scheme !== 'acct') throw nothingThere(UNKNOWN);
      const domain = emailDomain(resource);
      if (domain === undefined) throw noAccount();
      const sso = await service.services.adminQueries.readSso(domain);
      if (sso === undefined) throw nothingThere(UNKNOWN);
      const link = { rel: ISSUER, href: sso.issuer, properties: { [CLIENT_ID]: sso.client_id } };
      const wanted = query.getAll('rel');
      const isWanted = wanted.length === 0 || wanted.includes(ISSUER);
      return answerJson(
        { subject: resource, links: isWanted ? [link] : [] },
        { type: JRD, headers: { 'Access-Control-Allow-Origin': '*' } },
      );
    },
  }),
];

/** Returns the refusal (400) for a missing or invalid URI: RFC 7033, section 4.2. */
function noAccount(): Refusal {
  return new Refusal('malformed', {
    code: 'value',
    diagnostics:
      'query.resource must be a single acct: URI with an e-mail address, for example acct:name@example.org',
    expression: 'query.resource',
  });
}
