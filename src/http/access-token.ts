/** Access tokens (`at_…`) as credentials of a request (RFC 6750; docs/spec/decisions.md, section 9). */

import { type Caller, filling, ownCaller } from '#src/shared/access/caller.ts';
import { invalidToken } from '#src/shared/access/ended-token.ts';
import { tenantId } from '#src/shared/access/tenant.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { TokenCaller } from './ports/tokens.ts';

/** Matches texts that may be an access token. */
const ACCESS_TOKEN = /^at_[A-Za-z0-9_-]{16,256}$/;

/** Tells whether a credential may be an access token. */
export function isAccessToken(credential: string): boolean {
  return ACCESS_TOKEN.test(credential);
}

const OF_TOKENS = ['projects', 'consents'] as const;
const OF_KEYS = ['projects'] as const;

/** Returns the read models that say whether a credential works; they must not lag. */
export function credentialModels(credential: string): readonly string[] {
  return isAccessToken(credential) ? OF_TOKENS : OF_KEYS;
}

/**
 * Returns the caller of a token.
 * @param url of the request, without its query string
 * @throws Refusal unauthenticated (401) if the token was issued for other resources (RFC 8707, section 2)
 */
export function makeGrantCaller(token: TokenCaller, url: string): Caller {
  if (!covers(token.resources, url)) {
    throw invalidToken(
      'the access token is for other resources of this service; request one with their `resource`',
    );
  }
  const { environment, isBeingFilled = false } = token;
  const project = { project: token.project, environment };
  if (token.kind === 'member') {
    const { issuer, subject, keyScopes } = token;
    return ownCaller(project, { kind: 'member', issuer, subject }, keyScopes, isBeingFilled);
  }
  const { applicationId } = token;
  if (token.kind === 'client')
    return ownCaller(project, { kind: 'client', applicationId }, token.keyScopes, isBeingFilled, token.types);
  const { grantId, ownerProject, record, patient, access, purpose } = token;
  // Its rights are the letters of its scopes, which each interaction checks.
  const own = ownCaller(project, { kind: 'grant', applicationId, grantId }, []);
  // A grant leads to a record in its application's environment, in any project.
  const owner = { project: ownerProject, environment };
  return {
    ...own,
    sees: {
      owner,
      ownerId: tenantId(owner),
      within: { record, patient, access, purpose },
      ...filling(owner, isBeingFilled),
    },
  };
}

/** Tells whether a URL is one of the resources, or below one. */
function covers(resources: readonly string[], url: string): boolean {
  return (
    resources.length === 0 ||
    resources.some((resource) => {
      const base = resource.replace(/\/+$/, '');
      return url === base || url.startsWith(`${base}/`);
    })
  );
}

/**
 * Returns the refusal (403) of a grant's token where none is taken. @param takes the credentials that are accepted
 * instead
 */
export function refusesGrants(takes = 'an API key or a token of client_credentials'): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `access tokens of a patient’s grant do not open this request, which takes ${takes}; docs/oauth.md lists what they open`,
  });
}
