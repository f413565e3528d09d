/** `POST /oauth/bc-authorize` and its grant type at the token endpoint (OpenID CIBA Core 1.0, poll mode). */
import { z } from 'zod';
import { readBackchannelRequest } from '#src/oauth/backchannel/request.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { type ClientRequest, clientRoute, required } from './endpoint.ts';
import { badResource, requireResources, resource, tokenAnswer } from './parts.ts';

const answer = z
  .object({
    auth_req_id: z.string(),
    expires_in: z.int().describe('Seconds.'),
    interval: z.int().describe('Minimum number of seconds between two polls.'),
  })
  .describe('OpenID CIBA Core 1.0, section 7.3.');

/** Requests access from a person (section 7.3 of the specification). */
export const BACKCHANNEL_ROUTE = clientRoute({
  path: '/oauth/bc-authorize',
  operationId: 'createAccessRequest',
  summary: 'Ask a person for access without sending them to a page',
  description:
    'OpenID CIBA Core 1.0, poll mode; docs/oauth.md. The person finds the request under `/me/access-requests`; poll `/oauth/token` meanwhile. The answer is the same whether or not the person exists.',
  serversOnly: true,
  form: z.object({
    scope: z
      .string()
      .max(8_000)
      .describe('With `openid`.')
      .meta({ example: 'openid patient/Observation.rs' }),
    login_hint: z
      .string()
      .max(254)
      .optional()
      .describe('An e-mail address, or the id under which the application knows the patient.')
      .meta({ example: 'nora@example.org' }),
    id_token_hint: z.string().optional().describe('An ID token of this service; instead of `login_hint`.'),
    binding_message: z.string().max(64).optional().describe('Shown to the person as text.'),
    requested_expiry: z
      .int()
      .min(1)
      .optional()
      .describe('Lifetime in seconds; values above 600 count as 600.'),
    resource,
  }),
  answer: { description: 'The request is pending until the person answers', schema: answer },
  async work({ service, client, form }) {
    const { baseUrl } = service;
    const { backchannel } = service.oauth;
    const readSubject = (idToken: string) => backchannel.readSubject(client.clientId, idToken);
    const asked = await readBackchannelRequest(form, { client, baseUrl, readSubject });
    const { authReqId, expiresIn, interval } = await backchannel.ask(client, asked);
    return { auth_req_id: authReqId, expires_in: expiresIn, interval };
  },
});

/**
 * Answers a poll (sections 10.1 and 11).
 * @throws OAuthError
 */
export async function byBackchannel(request: ClientRequest<'auth_req_id' | 'resource'>): Promise<object> {
  const { client, requestId, service } = request;
  const { baseUrl } = service;
  const { backchannel } = service.oauth;
  const authReqId = required(request, 'auth_req_id');
  const resources = requireResources(request);
  if (resources === undefined) throw badResource(baseUrl);
  const polled = await backchannel.poll(authReqId, client.applicationId, requestId);
  if (polled === undefined)
    throw new OAuthError('invalid_grant', 'auth_req_id is unknown, or was issued to another client');
  const { id, status, fast, used, grant_id } = polled;
  if (used) throw new OAuthError('invalid_grant', 'auth_req_id was used before');
  if (status === 'denied') throw new OAuthError('access_denied', 'the person denied access');
  if (status === 'expired')
    throw new OAuthError('expired_token', 'auth_req_id has expired; make a new request');
  if (status === 'pending' || grant_id === null)
    throw fast
      ? new OAuthError('slow_down', 'from now on, wait 5 seconds longer between polls')
      : new OAuthError('authorization_pending', 'the person has not answered yet');
  const issued = await backchannel.redeem(id, client, resources);
  if (!('fault' in issued)) return tokenAnswer(request, issued);
  if (issued.fault === 'resource')
    throw new OAuthError(
      'invalid_target',
      'resource must be one that the request named; auth_req_id is used up',
    );
  throw new OAuthError(
    'invalid_grant',
    issued.fault === 'used' ? 'auth_req_id was used before' : 'the grant has ended',
  );
}
