/** Handles `POST /oauth/token` and its grant types (docs/spec/interface.md, sections 4.1 and 5; RFC 6749, sections 4 to 6). */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CIBA_GRANT } from '#src/oauth/backchannel/request.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { knownScopes, narrows, normalise, type Scope, scopeText, uncovered } from '#src/oauth/scopes.ts';
import type { ExchangeFault } from '#src/oauth/tokens/exchange-code.ts';
import type { Reused } from '#src/oauth/tokens/issued.ts';
import { byBackchannel } from './backchannel.ts';
import { type ClientRequest, clientRoute, required } from './endpoint.ts';
import { badResource, requireResources, requireScopes, resource, tokenAnswer } from './parts.ts';

/** The grant type for trusted first-party applications (docs/spec/decisions.md, section 7). */
export const IDENTITY_GRANT = 'urn:annal:params:oauth:grant-type:identity';

/** Parameters in addition to `grant_type`. */
const parameters = {
  code: z.string().optional(),
  code_verifier: z.string().min(43).max(128).optional(),
  redirect_uri: z.url().optional(),
  refresh_token: z.string().optional(),
  auth_req_id: z.string().optional().describe('From `/oauth/bc-authorize`, for the CIBA grant.'),
  scope: z.string().max(8_000).optional(),
  resource,
  subject_token: z
    .string()
    .optional()
    .describe('For the identity grant: an ID token that is at most five minutes old.'),
  patient: z.string().optional().describe('For the identity grant: the id of a Patient.'),
};

type TokenRequest = ClientRequest<keyof typeof parameters>;
type Work = (request: TokenRequest) => Promise<object>;

/** The function that handles each grant type. */
export const GRANT_WORK: Readonly<Record<string, Work>> = {
  authorization_code: byCode,
  refresh_token: byRefreshToken,
  client_credentials: byClientCredentials,
  [CIBA_GRANT]: byBackchannel,
  [IDENTITY_GRANT]: byIdentity,
};

const tokens = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().describe('Seconds; never past the end of the grant.'),
  scope: z.string().describe('The granted scopes, in SMART v2 form.'),
  refresh_token: z.string().optional().describe('With `offline_access`. It works once.'),
  patient: z.string().optional().describe('The pairwise id of the record’s Patient.'),
  grant_id: z.string().optional(),
  id_token: z.string().optional().describe('With `openid`.'),
});

/** Issues tokens. */
export const TOKEN_ROUTE = clientRoute({
  path: '/oauth/token',
  operationId: 'createToken',
  summary: 'Exchange a code, a refresh token or credentials for tokens',
  description:
    'RFC 6749, section 3.2; docs/oauth.md. Each grant type needs its own parameters. A code or refresh token works once: if it is presented again, all tokens in its chain are revoked.',
  form: z.object({
    grant_type: z.enum(Object.keys(GRANT_WORK)).meta({ example: 'client_credentials' }),
    ...parameters,
  }),
  answer: { description: 'The tokens', schema: tokens },
  async work(request) {
    const grantType = required(request, 'grant_type');
    const work = Object.hasOwn(GRANT_WORK, grantType) ? GRANT_WORK[grantType] : undefined;
    if (work === undefined) {
      const types = Object.keys(GRANT_WORK).join(', ');
      throw new OAuthError('unsupported_grant_type', `grant_type must be one of ${types}`);
    }
    if (!request.client.grantTypes.includes(grantType)) {
      throw new OAuthError('unauthorized_client', `the application is not registered for ${grantType}`);
    }
    return work(request);
  },
});

/** RFC 7636, section 4.1. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * Returns a text if it consists of visible ASCII characters, as every redirect URI does; otherwise undefined, because the
 * database might refuse it.
 */
function visible(text: string | undefined): string | undefined {
  return text !== undefined && /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

const EXCHANGE_FAULTS: Readonly<Record<ExchangeFault, string>> = {
  unknown: 'the code is unknown, or was issued to another client',
  reused:
    'the code was used before; tokens that it gave have been revoked. Send the person to /oauth/authorize again',
  expired: 'the code has expired: send the person to /oauth/authorize again',
  redirect_uri: 'redirect_uri must be the one from the authorization request; the code is used up',
  verifier: 'code_verifier does not match the code_challenge; the code is used up',
  resource: 'resource must be one that the authorization request named; the code is used up',
  ended: 'the grant has ended',
};

async function byCode(request: TokenRequest): Promise<object> {
  const { client, one } = request;
  const code = required(request, 'code');
  const verifier = one('code_verifier');
  const proves = verifier !== undefined && VERIFIER.test(verifier);
  const resources = requireResources(request);
  const issued = await request.service.oauth.tokens.exchangeCode({
    code,
    applicationId: client.applicationId,
    redirectUri: visible(one('redirect_uri')),
    // A failed exchange uses up the code, even if it failed because of a missing parameter.
    challenge:
      proves && resources !== undefined
        ? createHash('sha256').update(verifier).digest('base64url')
        : undefined,
    resources: resources ?? [],
  });
  if (resources === undefined) throw badResource(request.service.baseUrl);
  if ('fault' in issued) {
    const { fault } = issued;
    // If another client presented the code, the grant doesn't belong to that other client.
    if (issued.reused !== undefined)
      noteReuse(request, 'code', fault === 'reused' ? issued.reused : { ...issued.reused, grantId: null });
    for (const name of ['redirect_uri', 'code_verifier'] as const) required(request, name);
    throw new OAuthError(fault === 'resource' ? 'invalid_target' : 'invalid_grant', EXCHANGE_FAULTS[fault]);
  }
  return tokenAnswer(request, issued);
}

async function byRefreshToken(request: TokenRequest): Promise<object> {
  const { applicationId } = request.client;
  const token = required(request, 'refresh_token');
  const found = await request.service.oauth.tokens.findRefreshToken(token, applicationId);
  if (found === undefined)
    throw new OAuthError('invalid_grant', 'the refresh token is unknown, or was issued to another client');
  // A refresh token that has already been used ends its chain, whatever else the request contains.
  const narrowed = found.current ? narrowedTo(request, found) : found;
  const issued = await request.service.oauth.tokens.refresh({ token, applicationId, ...narrowed });
  if ('fault' in issued) {
    if (issued.reused !== undefined) noteReuse(request, 'refresh token', issued.reused);
    throw new OAuthError(
      'invalid_grant',
      issued.fault === 'reused'
        ? 'the refresh token was used before; all tokens of its chain have been revoked'
        : 'the refresh token has expired or was revoked, or its grant has ended',
    );
  }
  return tokenAnswer(request, issued);
}

/**
 * Returns the scopes and resources that a refresh requests.
 * @throws OAuthError invalid_scope or invalid_target if it requests more than was granted
 */
function narrowedTo(
  request: TokenRequest,
  granted: { readonly scope: string; readonly resources: readonly string[] },
): { readonly scope: string; readonly resources: readonly string[] } {
  const text = request.one('scope');
  const scopes = text === undefined ? undefined : requireScopes(text);
  if (scopes !== undefined && !narrows(knownScopes(granted.scope.split(' ')), scopes))
    throw new OAuthError('invalid_scope', 'scope must not exceed the granted scopes');
  const resources = requireResources(request);
  if (resources === undefined) throw badResource(request.service.baseUrl);
  const within = granted.resources.length === 0 || resources.every((one) => granted.resources.includes(one));
  if (!within) throw new OAuthError('invalid_target', 'resource must be one of those that were granted');
  return {
    scope: scopes === undefined ? granted.scope : normalise(scopes).join(' '),
    resources: resources.length === 0 ? granted.resources : resources,
  };
}

/** The default for `system/` scopes, equivalent to a key's rights (docs/spec/decisions.md, section 9). */
const AS_A_KEY = 'system/*.cruds';

async function byClientCredentials(request: TokenRequest): Promise<object> {
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
  const resources = requireResources(request);
  if (resources === undefined) throw badResource(request.service.baseUrl);
  const scope = normalise(asked).join(' ');
  const { accessToken, expiresIn } = await request.service.oauth.tokens.issueClientToken(
    client,
    scope,
    resources,
  );
  return { access_token: accessToken, token_type: 'Bearer', expires_in: expiresIn, scope };
}

async function byIdentity(request: TokenRequest): Promise<object> {
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
  const resources = requireResources(request);
  if (resources === undefined) throw badResource(request.service.baseUrl);
  const scopes = normalise(asked);
  const patient = one('patient');
  const issued = await request.service.oauth.identityGrant({
    client,
    subjectToken,
    scopes,
    patient,
    resources,
    requestId,
  });
  return tokenAnswer(request, issued);
}

const isSystem = (scope: Scope): boolean => typeof scope !== 'string' && scope.context === 'system';

function noteReuse(
  { service: { log, accessLog }, client, requestId }: TokenRequest,
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
