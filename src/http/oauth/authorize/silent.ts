/** Handles `prompt=none`, which requires a response without a page (OpenID Connect Core 1.0, section 3.1.2.6). */

import type { AuthorizationRequest } from '#src/oauth/authorization/request.ts';
import type { Outcome } from '#src/oauth/authorization/response.ts';
import { knownScopes, narrows, normalise } from '#src/oauth/scopes.ts';
import type { Session } from '#src/shared/access/session.ts';
import type { AuthorizeServices } from '../../ports/authorize.ts';
import type { Opened } from './opened.ts';

const NO_GRANT = 'no active grant covers the request';

/**
 * Returns the response to a request without showing a page. The response is a code if the person is signed in and has given
 * exactly one grant that covers the request; otherwise an error such as `login_required` or `consent_required`. Never creates
 * a grant.
 */
export async function silently(
  services: AuthorizeServices,
  { client, request }: Opened,
  session: Session | undefined,
): Promise<Outcome> {
  const error = (code: string, description: string): Outcome => ({
    error: code,
    error_description: description,
  });
  if (session === undefined || !isRecent(session, request))
    return error('login_required', 'the person must sign in');
  if (!isCertain(client, request.redirectUri))
    return error('consent_required', 'public applications need an https redirect_uri for prompt=none');
  const { person } = session;
  const records = await services.recordsFor(person, client, request.patient);
  const meant = records.filter(({ isMeant }) => isMeant || request.patient === undefined);
  const grants = (await services.grantsTo(client, person)).filter(
    ({ record, scopes }) =>
      meant.some(({ id }) => id === record) && narrows(knownScopes(scopes), request.scopes),
  );
  const [grant, ...more] = grants;
  if (grant === undefined) return error('consent_required', NO_GRANT);
  if (more.length > 0)
    return error('interaction_required', 'several grants cover the request; name one with patient');
  const code = await services.issueCode({
    client,
    grantId: grant.grantId,
    record: grant.record,
    redirectUri: request.redirectUri,
    challenge: request.challenge,
    nonce: request.nonce,
    scope: normalise(request.scopes).join(' '),
    resources: request.resources,
    authTime: session.authTime ?? session.startedAt,
  });
  if (code === undefined) return error('consent_required', NO_GRANT);
  return { code };
}

/** Returns whether a person signed in as recently as `max_age` requires; without `max_age`, any session is recent enough. */
function isRecent(
  { authTime, startedAt }: Session,
  { maxAge }: Pick<AuthorizationRequest, 'maxAge'>,
): boolean {
  return maxAge === undefined || Date.now() / 1_000 - (authTime ?? startedAt) <= maxAge;
}

/** Tolerated difference between the clocks of the issuer, the service and the database, in seconds. */
const SKEW_S = 120;

/**
 * Returns whether a session satisfies `prompt` and `max_age` (OpenID Connect Core 1.0, section 3.1.2.1). A session that began
 * after the request may have begun because of a different request, and its issuer may not have asked the person to sign in
 * again. So `auth_time` decides in that case too.
 * @param createdAt when the request arrived, in seconds
 */
export function isFresh(
  { authTime, startedAt }: Session,
  { prompt, maxAge }: Pick<AuthorizationRequest, 'prompt' | 'maxAge'>,
  createdAt: number,
): boolean {
  const isNew = startedAt >= createdAt;
  if (!isNew && (prompt.has('login') || prompt.has('select_account'))) return false;
  const age = prompt.has('login') ? 0 : maxAge;
  if (age === undefined) return true;
  if (!isNew) return (authTime ?? startedAt) >= createdAt - age;
  return authTime !== undefined && authTime >= createdAt - age - SKEW_S;
}

/**
 * Returns whether it is certain that the application itself receives the response: it has a secret, or its redirect URI is an
 * https URL. Any program can claim a private-use scheme or a port on this machine (RFC 8252, section 8.6).
 */
function isCertain({ kind }: Opened['client'], redirectUri: string): boolean {
  return kind === 'confidential' || redirectUri.startsWith('https://');
}
