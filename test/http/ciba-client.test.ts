/** A third-party client library asks for access and polls: openid-client, in CIBA's poll mode. */
import { expect } from 'chai';
import * as openid from 'openid-client';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { CIBA_SCOPE, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { me } from '#test/support/me.ts';
import { Journey, PERSON } from '#test/support/oauth-journey.ts';

describe('CIBA with openid-client', () => {
  let service: InProcess;
  let workshop: Workshop;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
  });
  after(() => stopWorkshop(service));

  const asked = async () => {
    const { client_id, client_secret = '' } = await registerCiba(workshop);
    const config = await openid.discovery(
      new URL(service.url),
      client_id,
      client_secret,
      openid.ClientSecretBasic(client_secret),
      { execute: [openid.allowInsecureRequests] },
    );
    const response = await openid.initiateBackchannelAuthentication(config, {
      scope: CIBA_SCOPE,
      login_hint: PERSON,
      binding_message: 'W4SCT',
    });
    const { json } = await me(service, PERSON, '/access-requests?environment=sandbox&status=pending');
    const [request] = json.data.filter(({ status }) => status === 'pending');
    // The library waits this long before its first poll. The person answers in the meantime.
    return { config, response: { ...response, interval: 0.2 }, id: request?.id ?? '' };
  };

  it('gets tokens, with an ID token that it verifies', async () => {
    const { config, response, id } = await asked();
    const metadata = config.serverMetadata();
    expect(metadata.backchannel_authentication_endpoint).to.equal(`${service.url}/oauth/bc-authorize`);
    expect(metadata.backchannel_token_delivery_modes_supported).to.deep.equal(['poll']);
    expect(metadata.backchannel_user_code_parameter_supported).to.equal(false);
    expect(metadata.grant_types_supported).to.include('urn:openid:params:grant-type:ciba');
    const { json } = await me(service, PERSON, '/patients?environment=sandbox');
    const own = json.data.filter(({ relationship }) => relationship === 'self');
    for (const { id: patient_id } of own)
      await me(service, PERSON, `/access-requests/${id}/approve`, 'POST', { patient_id, duration_days: 30 });
    const tokens = await openid.pollBackchannelAuthenticationGrant(config, response);
    expect(tokens.claims()).to.include({ iss: service.url });
    const read = await new Journey(service.url).read(
      tokens.access_token,
      `/fhir/R4/Patient/${tokens.patient}`,
    );
    expect(read.status).to.equal(200);
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(refreshed.access_token).not.to.equal(tokens.access_token);
  });

  it('learns that the person denied access', async () => {
    const { config, response, id } = await asked();
    expect((await me(service, PERSON, `/access-requests/${id}/deny`, 'POST')).status).to.equal(200);
    const failed = await openid
      .pollBackchannelAuthenticationGrant(config, response)
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(openid.ResponseBodyError);
    expect(failed).to.include({ error: 'access_denied', status: 400 });
  });
});
