/** An application that requests access from people without pages (OpenID CIBA Core 1.0), for tests. */
import type { AdminJson } from './admin.ts';
import type { Workshop } from './authorization.ts';
import type { InProcess } from './in-process.ts';
import type { Journey, JourneyClient, TokenAnswer } from './oauth-journey.ts';

/** The grant type. */
export const CIBA = 'urn:openid:params:grant-type:ciba';
/** The scopes that the application from `registerCiba` may request. */
export const CIBA_SCOPES = ['openid', 'fhirUser', 'launch/patient', 'offline_access', 'patient/*.cruds'];
/** The scope that the application requests in tests. */
export const CIBA_SCOPE = 'openid offline_access patient/Observation.rs patient/Condition.rs';

/** Registers a confidential application for CIBA; `more` replaces members. */
export function registerCiba(
  workshop: Workshop,
  more: Readonly<Record<string, unknown>> = {},
): Promise<AdminJson & JourneyClient> {
  return workshop.register({
    kind: 'confidential',
    scopes: CIBA_SCOPES,
    grant_types: [CIBA, 'authorization_code', 'refresh_token'],
    ...more,
  });
}

/** Sends an access request; undefined omits a parameter. */
export function askAccess(
  journey: Journey,
  client: JourneyClient | undefined,
  fields: Readonly<Record<string, string | undefined>>,
): Promise<TokenAnswer> {
  return journey.post('/oauth/bc-authorize', client, { scope: CIBA_SCOPE, ...fields });
}

/** Polls for tokens. */
export function pollAccess(
  journey: Journey,
  client: JourneyClient,
  { auth_req_id }: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, string | undefined>> = {},
): Promise<TokenAnswer> {
  return journey.post('/oauth/token', client, {
    grant_type: CIBA,
    auth_req_id: String(auth_req_id),
    ...fields,
  });
}

/** Simulates the passing of time for all requests, their polls, muting, and ended links. */
export async function letPass({ pool }: Pick<InProcess, 'pool'>, seconds: number): Promise<void> {
  await pool.query(
    `update operations.access_request set created_at = created_at - make_interval(secs => $1),
       expires_at = expires_at - make_interval(secs => $1), polled_at = polled_at - make_interval(secs => $1),
       decided_at = decided_at - make_interval(secs => $1)`,
    [seconds],
  );
  await pool.query(
    `update operations.muted_application set muted_at = muted_at - make_interval(secs => $1),
       unmuted_at = unmuted_at - make_interval(secs => $1)`,
    [seconds],
  );
  await pool.query('update consents.links set unlinked_at = unlinked_at - $1::int8 * 1000000', [seconds]);
  await pool.query(
    'update operations.access_request_turn set asked = array(select x - make_interval(secs => $1) from unnest(asked) x)',
    [seconds],
  );
}
