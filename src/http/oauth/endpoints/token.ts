/** `POST /oauth/token`: the grant types (docs/spec/interface.md, sections 4.1 and 5; RFC 6749, sections 4 to 6). */
import { createHash } from 'node:crypto';
import { CIBA_GRANT } from '#src/oauth/backchannel/request.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { knownScopes, narrows, normalise, type Scope, scopeText, uncovered } from '#src/oauth/scopes.ts';
import type { ExchangeFault } from '#src/oauth/tokens/exchange-code.ts';
import type { Reused } from '#src/oauth/tokens/issued.ts';
import { byBackchannel } from './backchannel.ts';
import { type ClientRequest, type EndpointDeps, required } from './endpoint.ts';
import { badResource, requireResources, requireScopes, tokenAnswer } from './parts.ts';

/** The grant type of trusted first-party applications (docs/spec/decisions.md, section 7). */
export const IDENTITY_GRANT = 'urn:annal:params:oauth:grant-type:identity';

type Work = (deps: EndpointDeps, request: ClientRequest) => Promise<object>;

/** The work of each grant type. */
export const GRANT_WORK: Readonly<Record<string, Work>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  client_credentials: byClientCredentials,
  [CIBA_GRANT]: byBackchannel,
  [IDENTITY_GRANT]: byIdentity,
};

/** Answers a token request. @throws OAuthError */
export async function answerTokenRequest(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const grantType = required(request, 'grant_type');
  const work = Object.hasOwn(GRANT_WORK, grantType) ? GRANT_WORK[grantType] : undefined;
  if (work === undefined) {
    const types = Object.keys(GRANT_WORK).join(', ');
    throw new OAuthError('unsupported_grant_type', `grant_type must be one of ${types}`);
  }
  if (!request.client.grantTypes.includes(grantType)) {
    throw new OAuthError('unauthorized_client', `the application is not registered for ${grantType}`);
  }
  return work(deps, request);
}

/** RFC 7636, section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Returns a text of visible ASCII, as every redirect URI is; undefined for another, which the database might refuse. */
function visible(text: string | undefined): string | undefined {
  return text !== undefined && /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

const EXCHANGE_FAULTS: Readonly<Record<ExchangeFault, string>> = {
  unknown: 'the code is unknown, or was issued to another client',
  reused:
    'the code was used before; tokens that it gave have been revoked. Send the person to /oauth/authorize again',
  expired: 'the code has expired: send the person to /oauth/authorize again',
  redirect_uri: 'redirect_uri must be the one of the authorization request; the code is used up',
  verifier: 'code_verifier does not match the code_challenge; the code is used up',
  resource: 'resource must be one of the authorization request; the code is used up',
  ended: 'the grant has ended',
};

async function byCode(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { client, one } = request;
  const code = required(request, 'code');
  const verifier = one('code_verifier');
  const proves = verifier !== undefined && VERIFIER.test(verifier);
  const resources = requireResources(request, deps.baseUrl);
  const issued = await deps.tokens.exchangeCode({
    code,
    applicationId: client.applicationId,
    redirectUri: visible(one('redirect_uri')),
    // A failed exchange uses up the code, also one that lacks a parameter.
    challenge:
      proves && resources !== undefined
        ? createHash('sha256').update(verifier).digest('base64url')
        : undefined,
    resources: resources ?? [],
  });
  if (resources === undefined) throw badResource(deps.baseUrl);
  if ('fault' in issued) {
    const { fault } = issued;
    // Another client presented it: the grant isn't that client's.
    if (issued.reused !== undefined)
      noteReuse(
        deps,
        request,
        'code',
        fault === 'reused' ? issued.reused : { ...issued.reused, grantId: null },
      );
    for (const name of ['redirect_uri', 'code_verifier']) required(request, name);
    throw new OAuthError(fault === 'resource' ? 'invalid_target' : 'invalid_grant', EXCHANGE_FAULTS[fault]);
  }
  return tokenAnswer(deps, request, issued);
}

async function byRefreshToken(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { applicationId } = request.client;
  const token = required(request, 'refresh_token');
  const found = await deps.tokens.findRefreshToken(token, applicationId);
  if (found === undefined)
    throw new OAuthError('invalid_grant', 'the refresh token is unknown, or was issued to another client');
  // A used one ends its chain, whatever else the request says.
  const narrowed = found.current ? narrowedTo(deps, request, found) : found;
  const issued = await deps.tokens.refresh({ token, applicationId, ...narrowed });
  if ('fault' in issued) {
    if (issued.reused !== undefined) noteReuse(deps, request, 'refresh token', issued.reused);
    throw new OAuthError(
      'invalid_grant',
      issued.fault === 'reused'
        ? 'the refresh token was used before; all tokens of its chain have been revoked'
        : 'the refresh token has expired or was revoked, or its grant has ended',
    );
  }
  return tokenAnswer(deps, request, issued);
}

/**
 * Returns the scopes that a refresh asks for. @throws OAuthError invalid_scope, invalid_target for more than was
 * granted
 */
function narrowedTo(
  deps: EndpointDeps,
  request: ClientRequest,
  granted: { readonly scope: string; readonly resources: readonly string[] },
): { readonly scope: string; readonly resources: readonly string[] } {
  const text = request.one('scope');
  const scopes = text === undefined ? undefined : requireScopes(text);
  if (scopes !== undefined && !narrows(knownScopes(granted.scope.split(' ')), scopes))
    throw new OAuthError('invalid_scope', 'scope must not exceed the granted scopes');
  const resources = requireResources(request, deps.baseUrl);
  if (resources === undefined) throw badResource(deps.baseUrl);
  const within = granted.resources.length === 0 || resources.every((one) => granted.resources.includes(one));
  if (!within) throw new OAuthError('invalid_target', 'resource must be one of those that were granted');
  return {
    scope: scopes === undefined ? granted.scope : normalise(scopes).join(' '),
    resources: resources.length === 0 ? granted.resources : resources,
  };
}

/** The default of `system/` scopes: the same as for a key (docs/spec/decisions.md, section 9). */
const AS_A_KEY = 'system/*.cruds';

async function byClientCredentials(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { client, one } = request;
  if (client.kind !== 'confidential')
    throw new OAuthError('unauthorized_client', 'client_credentials requires a confidential application');
  const own = knownScopes(client.scopes).filter(isSystem);
  const registered = own.length > 0 ? own : knownScopes([AS_A_KEY]);
  const text = one('scope');
  const asked = text === undefined ? registered : requireScopes(text);
  const other = asked.find((scope) => !isSystem(scope)) ?? uncovered(registered, asked)[0];
  if (other !== undefined)
    throw new OAuthError(
      'invalid_scope',
      `client_credentials does not give this application ${scopeText(other)}`,
    );
  const resources = requireResources(request, deps.baseUrl);
  if (resources === undefined) throw badResource(deps.baseUrl);
  const scope = normalise(asked).join(' ');
  const { accessToken, expiresIn } = await deps.tokens.issueClientToken(client, scope, resources);
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope };
}

async function byIdentity(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { client, one, requestId } = request;
  if (!client.trusted)
    throw new OAuthError('unauthorized_client', 'the identity grant requires a trusted application');
  const subjectToken = required(request, 'subject_token');
  const asked = requireScopes(required(request, 'scope'));
  const foreign = asked.find(isSystem) ?? uncovered(knownScopes(client.scopes), asked)[0];
  if (foreign !== undefined)
    throw new OAuthError('invalid_scope', `the application is not registered for ${scopeText(foreign)}`);
  if (asked.includes('offline_access') && !client.grantTypes.includes('refresh_token'))
    throw new OAuthError(
      'invalid_scope',
      'offline_access: the application is not registered for the grant type refresh_token',
    );
  const resources = requireResources(request, deps.baseUrl);
  if (resources === undefined) throw badResource(deps.baseUrl);
  const scopes = normalise(asked);
  const patient = one('patient');
  const issued = await deps.identityGrant({ client, subjectToken, scopes, patient, resources, requestId });
  return tokenAnswer(deps, request, issued);
}

const isSystem = (scope: Scope): boolean => typeof scope !== 'string' && scope.context === 'system';

function noteReuse(
  { log, accessLog }: EndpointDeps,
  { client, requestId }: ClientRequest,
  what: string,
  { record, grantId }: Pick<Reused, 'record'> & { readonly grantId: string | null },
): void {
  log.warn(
    { request_id: requestId, client_id: client.clientId },
    `a used ${what} was presented again; its tokens were revoked`,
  );
  accessLog.note({
    record,
    action: 'token_reuse',
    actor: { kind: 'application', id: client.applicationId, grantId },
    resourceType: null,
    resourceId: null,
    purpose: null,
    status: 'denied',
    count: 0,
    requestId,
  });
}
