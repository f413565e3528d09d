/**
 * `/.well-known/webfinger`: where the owner of an e-mail address signs in, for people who haven't signed in
 * and so have no ID token for `/admin/sso/discover` (docs/spec/decisions.md, section 2: `/.well-known/*`
 * takes no credential). https://openid.net/specs/openid-connect-discovery-1_0.html#IssuerDiscovery, RFC 7033
 */
import Router from '@koa/router';
import type { SsoQueries } from '#queries/admin/sso.ts';
import { emailDomain } from '#src/shared/access/member.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Freshness } from './ports/freshness.ts';

/** The path of the route. */
export const WEBFINGER = '/.well-known/webfinger';
/** The relation of an account to the issuer that it signs in with. */
export const ISSUER = 'http://openid.net/specs/connect/1.0/issuer';
/** A property of that link: `aud` of the ID tokens that the organization takes of the issuer. */
export const CLIENT_ID = 'https://annal.dev/sso/client_id';

const URI = /^([a-z][a-z\d+.-]*):[\x21-\x7e]+$/i;
/** Characters of a resource, at most. */
const MOST = 400;

/**
 * Returns the route. Its response depends only on the address's domain, so it doesn't reveal who has an
 * account.
 */
export function webfingerRouter(ssoOf: SsoQueries['readSso'], freshness: Freshness): Router {
  const router = new Router();
  router.get(WEBFINGER, async (ctx) => {
    const query = new URLSearchParams(ctx.querystring);
    const resource = query.get('resource') ?? '';
    const scheme = URI.exec(resource)?.[1]?.toLowerCase();
    if (scheme === undefined || resource.length > MOST || query.getAll('resource').length > 1)
      throw noAccount();
    if (scheme !== 'acct') throw unknown();
    const domain = emailDomain(resource);
    if (domain === undefined) throw noAccount();
    freshness.require(['projects']);
    const sso = await ssoOf(domain);
    if (sso === undefined) throw unknown();
    const link = { rel: ISSUER, href: sso.issuer, properties: { [CLIENT_ID]: sso.client_id } };
    const wanted = query.getAll('rel');
    const isWanted = wanted.length === 0 || wanted.includes(ISSUER);
    // RFC 7033, section 5: any page may ask.
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.type = 'application/jrd+json';
    ctx.body = JSON.stringify({ subject: resource, links: isWanted ? [link] : [] });
  });
  return router;
}

/** Returns the refusal (404) of an unknown subject (RFC 7033, section 4.2). */
function unknown(): Refusal {
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics: 'no organization has single sign-on for this domain',
  });
}

/** Returns the refusal (400) for a missing or invalid URI: RFC 7033, section 4.2. */
function noAccount(): Refusal {
  return new Refusal('malformed', {
    code: 'value',
    diagnostics:
      'query.resource must be a single acct: URI with an e-mail address, for example acct:name@example.org',
    expression: 'query.resource',
  });
}
