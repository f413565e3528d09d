/** Rules of docs/oauth-rules.md: refresh tokens, revocation and introspection. */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { openWorkshop, startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey, type JourneyClient, PERSON, type TokenAnswer } from '#test/support/oauth-journey.ts';
import { eventually } from '#test/support/process.ts';

const INACTIVE = '{"active":false}';

describe('rules of refresh tokens, revocation and introspection', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let diary: JourneyClient;
  let portal: JourneyClient;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
    diary = await workshop.register();
    portal = await workshop.register({ kind: 'confidential' });
  });
  after(() => stopWorkshop(service));

  const expectFault = (answer: TokenAnswer, error: string, status = 400): void => {
    expect([answer.status, answer.error], answer.text).to.deep.equal([status, error]);
  };
  const revoke = (client: JourneyClient, token: string) => journey.post('/oauth/revoke', client, { token });
  const introspect = (client: JourneyClient, token: string) =>
    journey.post('/oauth/introspect', client, { token });

  it('REFRESH-1: each use of a refresh token gives a new one', async () => {
    const first = await journey.tokens(diary);
    const second = await journey.refresh(diary, first.refresh_token);
    expect([second.status, second.patient]).to.deep.equal([200, first.patient]);
    expect(second.refresh_token).to.match(/^rt_/).and.not.equal(first.refresh_token);
    expect(second.access_token).to.match(/^at_/).and.not.equal(first.access_token);
    expect(await journey.opens(second)).to.equal(200);
  });

  it('REFRESH-2: presenting a used refresh token ends all tokens of the chain', async () => {
    for (const client of [diary, portal]) {
      const first = await journey.tokens(client);
      const second = await journey.refresh(client, first.refresh_token);
      expectFault(await journey.refresh(client, first.refresh_token), 'invalid_grant');
      for (const tokens of [first, second]) expect(await journey.opens(tokens)).to.equal(401);
      expectFault(await journey.refresh(client, second.refresh_token), 'invalid_grant');
      // The patient can see that a token was reused (docs/spec/decisions.md, section 9).
      await eventually(async () => (await reuseOf(String(first.grant_id))).length > 0);
      expect(await reuseOf(String(first.grant_id))).to.deep.equal([
        { action: 'token_reuse', status: 'denied', resource_type: null, resource_id: null, count: 0 },
      ]);
    }
  });
  const reuseOf = async (grant: string) =>
    (
      await service.pool.query(
        `select e.action, e.status, e.resource_type, e.resource_id, e.count
           from operations.access_entry e join consents.grants g on g.grant_id = e.grant_id and g.record = e.record
            and g.application_id = e.actor_id where e.grant_id = $1 and e.action = 'token_reuse'`,
        [grant],
      )
    ).rows;

  it('REFRESH-3: of parallel refreshes one wins at most', async () => {
    const { refresh_token } = await journey.tokens(diary);
    const answers = await Promise.all(Array.from({ length: 8 }, () => journey.refresh(diary, refresh_token)));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const answer of answers) if (answer.status !== 200) expectFault(answer, 'invalid_grant');
    const { rows } = await service.pool.query(
      `select count(*)::int as n from operations.oauth_token t join operations.oauth_chain c on c.id = t.chain
       where c.revoked_at is null and t.kind = 'refresh' and t.sha256 = sha256($1)`,
      [Buffer.from(refresh_token)],
    );
    expect(rows[0].n).to.equal(0);
  });

  it('REFRESH-4: a refresh may narrow the scope and never widen it', async () => {
    const first = await journey.tokens(diary, {
      scope: 'offline_access patient/Observation.rs patient/Condition.rs',
    });
    for (const scope of [
      'patient/*.rs',
      'patient/Observation.cruds',
      'openid',
      'patient/Goal.r',
      'system/*.rs',
    ])
      expectFault(await journey.refresh(diary, first.refresh_token, { scope }), 'invalid_scope');
    const narrow = await journey.refresh(diary, first.refresh_token, {
      scope: 'patient/Observation.r?category=laboratory',
    });
    expect(narrow.scope).to.equal('patient/Observation.r?category=laboratory');
    const again = await journey.refresh(diary, narrow.refresh_token);
    expect(again.scope).to.equal(first.scope);
  });

  it('REFRESH-5: a refresh token works only for its client, which must authenticate', async () => {
    const { refresh_token } = await journey.tokens(portal);
    const other = await workshop.register({ kind: 'confidential' });
    for (const client of [diary, other])
      expectFault(await journey.refresh(client, refresh_token), 'invalid_grant');
    const { client_id } = portal;
    expectFault(await journey.refresh({ client_id }, refresh_token), 'invalid_client', 401);
    expectFault(
      await journey.refresh({ client_id, client_secret: 'x' }, refresh_token),
      'invalid_client',
      401,
    );
    expect((await journey.refresh(portal, refresh_token)).status).to.equal(200);
  });

  it('REFRESH-6: only offline_access gives a refresh token', async () => {
    for (const scope of ['openid patient/*.rs', 'launch/patient patient/*.rs'])
      expect(await journey.tokens(diary, { scope })).to.not.have.property('refresh_token');
    expect(await journey.tokens(diary, { scope: 'offline_access patient/*.rs' })).to.have.property(
      'refresh_token',
    );
  });

  it('REFRESH-7: a grant that the person ends takes its tokens with it', async () => {
    const tokens = await journey.tokens(diary);
    const { rows } = await service.pool.query('select record from consents.grants where grant_id = $1', [
      tokens.grant_id,
    ]);
    const { token } = await signIn(service, PERSON);
    const ended = await fetch(
      `${service.url}/me/patients/${rows[0].record}/grants/${tokens.grant_id}/revoke`,
      {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: '{}',
      },
    );
    expect(ended.status, await ended.text()).to.be.within(200, 204);
    expect(await journey.opens(tokens)).to.equal(401);
    expectFault(await journey.refresh(diary, tokens.refresh_token), 'invalid_grant');
    expect((await introspect(diary, tokens.access_token)).text).to.equal(INACTIVE);
  });

  it('REFRESH-8: a refresh token opens no interface, and an access token refreshes nothing', async () => {
    const tokens = await journey.tokens(diary);
    expect(await journey.opens({ ...tokens, access_token: tokens.refresh_token })).to.equal(401);
    expectFault(await journey.refresh(diary, tokens.access_token), 'invalid_grant');
    expect(await journey.opens(tokens)).to.equal(200);
  });

  it('REVOKE-1: revoking a refresh token also ends its access tokens', async () => {
    const first = await journey.tokens(diary);
    const second = await journey.refresh(diary, first.refresh_token);
    expect((await revoke(diary, second.refresh_token)).status).to.equal(200);
    for (const tokens of [first, second]) expect(await journey.opens(tokens)).to.equal(401);
    expectFault(await journey.refresh(diary, second.refresh_token), 'invalid_grant');
  });

  it('REVOKE-2: revoking an access token leaves the refresh token', async () => {
    const tokens = await journey.tokens(diary);
    expect((await revoke(diary, tokens.access_token)).status).to.equal(200);
    expect(await journey.opens(tokens)).to.equal(401);
    const next = await journey.refresh(diary, tokens.refresh_token);
    expect([next.status, await journey.opens(next)]).to.deep.equal([200, 200]);
  });

  it('REVOKE-3: another client’s token, or an unknown one, answers 200 and nothing happens', async () => {
    const tokens = await journey.tokens(diary);
    const other = await workshop.register();
    for (const token of [tokens.access_token, tokens.refresh_token, 'at_unknown', 'x'])
      for (const client of [other, portal]) expect((await revoke(client, token)).status).to.equal(200);
    expect(await journey.opens(tokens)).to.equal(200);
    expect((await journey.refresh(diary, tokens.refresh_token)).status).to.equal(200);
  });

  it('REVOKE-4: a confidential client must authenticate to revoke', async () => {
    const tokens = await journey.tokens(portal);
    const { client_id } = portal;
    for (const client of [{ client_id }, { client_id, client_secret: 'wrong' }])
      expectFault(await revoke(client, tokens.refresh_token), 'invalid_client', 401);
    expect(await journey.opens(tokens)).to.equal(200);
    expectFault(await journey.post('/oauth/revoke', portal, {}), 'invalid_request');
  });

  it('INTRO-1: introspection needs authentication, and answers the token’s client and confidential ones of its project', async () => {
    const tokens = await journey.tokens(diary);
    const { client_id } = portal;
    expectFault(await introspect({ client_id }, tokens.access_token), 'invalid_client', 401);
    expectFault(await journey.post('/oauth/introspect', undefined, { token: 'x' }), 'invalid_client', 401);
    for (const client of [diary, portal]) {
      const answer = await introspect(client, tokens.access_token);
      expect(answer).to.include({
        status: 200,
        active: true,
        client_id: diary.client_id,
        scope: tokens.scope,
      });
      expect(answer.patient).to.equal(tokens.patient);
    }
    const ofPortal = await journey.tokens(portal);
    expect((await introspect(diary, ofPortal.access_token)).text).to.equal(INACTIVE);
  });

  it('INTRO-2: unknown, expired, revoked and foreign tokens are all inactive, with nothing else', async () => {
    const stranger = await (await openWorkshop(service)).register({ kind: 'confidential' });
    const tokens = await journey.tokens(diary);
    expect((await introspect(stranger, tokens.access_token)).text).to.equal(INACTIVE);
    for (const token of ['at_unknown', 'x', `at_${'A'.repeat(43)}`])
      expect((await introspect(portal, token)).text).to.equal(INACTIVE);
    const next = await journey.refresh(diary, tokens.refresh_token);
    expect((await introspect(diary, tokens.refresh_token)).text).to.equal(INACTIVE);
    await revoke(diary, next.access_token);
    expect((await introspect(diary, next.access_token)).text).to.equal(INACTIVE);
    const other = await journey.tokens(portal);
    await service.pool.query("update operations.oauth_token set expires_at = now() - interval '1 second'");
    expect((await introspect(portal, other.access_token)).text).to.equal(INACTIVE);
  });
});
