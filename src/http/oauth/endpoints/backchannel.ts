/** `POST /oauth/bc-authorize` and its grant type at the token endpoint (OpenID CIBA Core 1.0, poll mode). */
import { readBackchannelRequest } from '#src/oauth/backchannel/request.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { type ClientRequest, type EndpointDeps, required } from './endpoint.ts';
import { badResource, requireResources, tokenAnswer } from './parts.ts';

/** Answers a request for access (section 7.3). @throws OAuthError */
export async function answerBackchannelRequest(
  { backchannel, baseUrl }: EndpointDeps,
  { client, one, all }: ClientRequest,
): Promise<object> {
  const readSubject = (idToken: string) => backchannel.readSubject(client.clientId, idToken);
  const asked = await readBackchannelRequest({ one, all }, { client, baseUrl, readSubject });
  const { authReqId, expiresIn, interval } = await backchannel.ask(client, asked);
  return { auth_req_id: authReqId, expires_in: expiresIn, interval };
}

/** Answers a poll (sections 10.1 and 11). @throws OAuthError */
export async function byBackchannel(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { backchannel, baseUrl } = deps;
  const { client, requestId } = request;
  const authReqId = required(request, 'auth_req_id');
  const resources = requireResources(request, baseUrl);
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
      ? new OAuthError('slow_down', 'wait 5 seconds longer between polls from now on')
      : new OAuthError('authorization_pending', 'the person has not answered yet');
  const issued = await backchannel.redeem(id, client, resources);
  if (!('fault' in issued)) return tokenAnswer(deps, request, issued);
  if (issued.fault === 'resource')
    throw new OAuthError('invalid_target', 'resource must be one of the request; auth_req_id is used up');
  throw new OAuthError(
    'invalid_grant',
    issued.fault === 'used' ? 'auth_req_id was used before' : 'the grant has ended',
  );
}
