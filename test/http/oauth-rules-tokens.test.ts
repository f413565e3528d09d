/** Rules of docs/oauth-rules.md: authorization codes, the token endpoint and access tokens. */
import { expect } from 'chai';
import {
  newChallenge,
  openWorkshop,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey, type JourneyClient, type TokenAnswer } from '#test/support/oauth-journey.ts';

describe('rules of codes and access tokens', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let diary: JourneyClient;
  let portal: JourneyClient;
  let backend: JourneyClient;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
    diary = await workshop.register();
    portal = await workshop.register({ kind: 'confidential' });
    backend = await workshop.register({
      kind: 'confidential',
      scopes: ['patient/*.rs', 'system/*.rs'],
      grant_types: ['client_credentials'],
    });
  });
  after(() => stopWorkshop(service));

  const expectFault = (answer: TokenAnswer, error: string, status = 400): void => {
    expect([answer.status, answer.error], answer.text).to.deep.equal([status, error]);
    expect(answer.text).to.not.match(/at_|rt_/);
  };
  const credentials = (fields: Record<string, string> = {}, client = backend) =>
    journey.post('/oauth/token', client, { grant_type: 'client_credentials', ...fields });

  it('CODE-1: a code works once; presenting it again ends the tokens that it gave', async () => {
    for (const client of [diary, portal]) {
      const hand = await journey.code(client);
      const first = await journey.exchange(client, hand);
      expect([first.status, await journey.opens(first)]).to.deep.equal([200, 200]);
      expectFault(await journey.exchange(client, hand), 'invalid_grant');
      expect(await journey.opens(first)).to.equal(401);
      expectFault(await journey.refresh(client, first.refresh_token), 'invalid_grant');
    }
  });

  it('CODE-2: a failed exchange uses up the code', async () => {
    for (const wrong of [
      { code_verifier: newChallenge().verifier },
      { code_verifier: undefined },
      { redirect_uri: 'https://diary.example.org/other' },
      { redirect_uri: undefined },
      { resource: 'https://evil.example' },
    ]) {
      const hand = await journey.code(diary);
      expect((await journey.exchange(diary, hand, wrong)).status, JSON.stringify(wrong)).to.equal(400);
      expectFault(await journey.exchange(diary, hand), 'invalid_grant');
    }
  });

  it('CODE-3: a code expires after 10 minutes', async () => {
    const hand = await journey.code(diary);
    const { rows } = await service.pool.query(
      'select extract(epoch from max(expires_at) - now())::int as left from operations.oauth_code',
    );
    expect(rows[0].left).to.be.within(580, 600);
    await service.pool.query("update operations.oauth_code set expires_at = now() - interval '1 second'");
    expectFault(await journey.exchange(diary, hand), 'invalid_grant');
  });

  it('CODE-4: a code works only for its client', async () => {
    for (const other of [portal, await workshop.register()]) {
      const hand = await journey.code(diary);
      expectFault(await journey.exchange(other, hand), 'invalid_grant');
    }
  });

  it('CODE-5: the exchange must name the redirect URI of the request', async () => {
    for (const redirect_uri of [undefined, 'https://diary.example.org/callback', 'x'])
      expect((await journey.exchange(diary, await journey.code(diary), { redirect_uri })).status).to.equal(
        400,
      );
  });

  it('CODE-6: only the verifier of the challenge exchanges the code', async () => {
    const { verifier } = newChallenge();
    const own = await journey.code(diary);
    const challenge = newChallenge();
    const hand = await journey.code(diary, { code_challenge: challenge.challenge });
    expectFault(await journey.exchange(diary, own, { code_verifier: verifier }), 'invalid_grant');
    expectFault(await journey.exchange(diary, hand, { code_verifier: challenge.challenge }), 'invalid_grant');
    for (const code_verifier of [undefined, '', 'short', 'x'.repeat(129), 'ä'.repeat(43)])
      expect((await journey.exchange(diary, await journey.code(diary), { code_verifier })).status).to.equal(
        400,
      );
    expectFault(
      await journey.exchange(portal, await journey.code(portal), { code_verifier: verifier }),
      'invalid_grant',
    );
  });

  it('CODE-7: of parallel exchanges at most one gets tokens', async () => {
    const hand = await journey.code(diary);
    const answers = await Promise.all(Array.from({ length: 8 }, () => journey.exchange(diary, hand)));
    const won = answers.filter(({ status }) => status === 200);
    expect(won.length).to.equal(1);
    for (const answer of answers) if (answer.status !== 200) expectFault(answer, 'invalid_grant');
    // The other requests presented a code that had already been used, so the tokens issued for the code have ended.
    for (const answer of won) expect(await journey.opens(answer)).to.equal(401);
  });

  it('CODE-8: a code of a grant that has ended gives no tokens', async () => {
    const hand = await journey.code(diary);
    // Allowing the application again replaces the grant.
    const newer = await journey.tokens(diary);
    expectFault(await journey.exchange(diary, hand), 'invalid_grant');
    expect(await journey.opens(newer)).to.equal(200);
  });

  it('TOKEN-1: answers are not stored, errors too', async () => {
    const answers = [
      await journey.tokens(diary),
      await credentials(),
      await journey.refresh(diary, 'rt_unknown'),
      await journey.post('/oauth/token', undefined, {}),
      await journey.post('/oauth/token', { ...portal, client_secret: 'wrong' }, { grant_type: 'password' }),
      await journey.post('/oauth/introspect', portal, { token: 'x' }),
    ];
    for (const { headers, text } of answers) {
      expect([headers.get('cache-control'), headers.get('pragma')], text).to.deep.equal([
        'no-store',
        'no-cache',
      ]);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    }
  });

  it('TOKEN-2: the endpoint takes forms by POST only, with each parameter once', async () => {
    const url = `${service.url}/oauth/token`;
    const query = new URLSearchParams({ grant_type: 'client_credentials', client_id: backend.client_id });
    expect((await fetch(`${url}?${query}`)).status).to.equal(405);
    const json = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials', ...backend }),
    });
    expect(json.status).to.be.within(400, 415);
    const { client_id, client_secret = '' } = backend;
    const asked = new URLSearchParams({ grant_type: 'client_credentials' });
    const inQuery = await fetch(`${url}?${new URLSearchParams({ client_id, client_secret })}`, {
      method: 'POST',
      body: asked,
    });
    expect(inQuery.status).to.be.within(400, 401);
    const twice = new URLSearchParams([...asked, ['scope', 'system/*.rs'], ['scope', 'system/*.rs']]);
    expectFault(await journey.post('/oauth/token', backend, twice), 'invalid_request');
  });

  it('TOKEN-3: the password grant and unknown grant types are refused', async () => {
    for (const grant_type of [
      'password',
      'implicit',
      'urn:ietf:params:oauth:grant-type:jwt-bearer',
      'toString',
    ])
      expectFault(
        await journey.post('/oauth/token', portal, { grant_type, username: 'a', password: 'b' }),
        'unsupported_grant_type',
      );
    expectFault(await journey.post('/oauth/token', portal, {}), 'invalid_request');
  });

  it('TOKEN-4: a client uses only the grant types that it registered', async () => {
    expectFault(await credentials({}, portal), 'unauthorized_client');
    expectFault(await journey.refresh(backend, 'rt_x'), 'unauthorized_client');
    const once = await workshop.register({ grant_types: ['authorization_code'] });
    expectFault(await journey.refresh(once, 'rt_x'), 'unauthorized_client');
  });

  it('TOKEN-5: an access token lasts 30 minutes at most and never beyond its grant', async () => {
    const tokens = await journey.tokens(diary);
    expect([tokens.token_type, tokens.access_token.slice(0, 3)]).to.deep.equal(['Bearer', 'at_']);
    expect(tokens.expires_in).to.be.within(1_780, 1_800);
    await service.pool.query(
      'update consents.grants set expires_at = (extract(epoch from now()) * 1000000)::int8 + 60000000 where grant_id = $1',
      [tokens.grant_id],
    );
    const next = await journey.refresh(diary, tokens.refresh_token);
    expect(next.expires_in).to.be.within(1, 60);
    await service.pool.query(
      'update consents.grants set expires_at = (extract(epoch from now()) * 1000000)::int8 - 1 where grant_id = $1',
      [tokens.grant_id],
    );
    expect(await journey.opens({ ...next, patient: tokens.patient })).to.equal(401);
    expectFault(await journey.refresh(diary, next.refresh_token), 'invalid_grant');
  });

  it('TOKEN-6: a token works only below its resources, which an exchange can narrow and never add to', async () => {
    const fhir = `${service.url}/fhir/R4`;
    const v1 = `${service.url}/v1`;
    const narrow = await journey.exchange(diary, await journey.code(diary), { resource: v1 });
    expect([narrow.status, await journey.opens(narrow)]).to.deep.equal([200, 401]);
    const bound = await journey.tokens(diary, { resource: fhir });
    expect(await journey.opens(bound)).to.equal(200);
    const hand = await journey.code(diary, { resource: fhir });
    expectFault(await journey.exchange(diary, hand, { resource: v1 }), 'invalid_target');
    expectFault(await journey.refresh(diary, bound.refresh_token, { resource: v1 }), 'invalid_target');
    const machine = await credentials({ resource: v1 });
    expect((await journey.read(machine.access_token, '/fhir/R4/Patient')).status).to.equal(401);
    expect((await journey.read(machine.access_token, '/v1/patients')).status).to.equal(200);
  });

  it('TOKEN-7: codes and tokens are stored as SHA-256 only, and no log has them', async () => {
    const hand = await journey.code(diary);
    const tokens = await journey.exchange(diary, hand);
    await journey.opens(tokens);
    const { rows: tables } = await service.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname in ('operations', 'consents', 'log', 'projects')`,
    );
    const secrets = [hand.code, tokens.access_token, tokens.refresh_token];
    for (const { name } of tables) {
      const { rows } = await service.pool.query(
        `select count(*)::int as n from ${name} t
         where exists (select from unnest($1::text[]) s where strpos(t::text, s) > 0
           or strpos(t::text, encode(convert_to(s, 'UTF8'), 'hex')) > 0)`,
        [secrets],
      );
      expect(rows[0].n, name).to.equal(0);
    }
    const log = service.log.join('\n');
    for (const secret of [...secrets, hand.verifier]) expect(log).to.not.contain(secret);
  });

  it('TOKEN-8: a token in the query string is refused', async () => {
    const { access_token, patient } = await journey.tokens(diary);
    const url = `${service.url}/fhir/R4/Patient/${patient}?access_token=${access_token}`;
    expect((await fetch(url)).status).to.be.oneOf([400, 401]);
    expect((await journey.read(access_token, url)).status).to.be.oneOf([400, 401]);
  });

  it('TOKEN-9: a grant’s token opens the granted record and nothing else', async () => {
    const tokens = await journey.tokens(diary);
    expect(await journey.opens(tokens)).to.equal(200);
    const { rows } = await service.pool.query('select record from consents.grants where grant_id = $1', [
      tokens.grant_id,
    ]);
    const own = await journey.read(tokens.access_token, `/fhir/R4/Patient/${rows[0].record}`);
    expect(own.status).to.equal(404);
    const found = await journey.read(tokens.access_token, '/fhir/R4/Patient?_total=accurate');
    expect(found.json.total).to.equal(1);
    const listed = await journey.read(tokens.access_token, '/v1/patients');
    expect([listed.status, listed.json.total]).to.deep.equal([200, 1]);
    for (const path of [`/v1/patients/${rows[0].record}`, `/v1/patients/${rows[0].record}/conditions`])
      expect((await journey.read(tokens.access_token, path)).status, path).to.be.oneOf([403, 404]);
    for (const path of [`/v1/patients/${tokens.patient}/links`, '/v1/webhooks'])
      expect((await journey.read(tokens.access_token, path)).status, path).to.equal(403);
    for (const path of ['/admin/organizations', '/me/patients'])
      expect((await journey.read(tokens.access_token, path)).status, path).to.be.oneOf([401, 403]);
    const erase = await journey.read(
      tokens.access_token,
      `/fhir/R4/Patient/${tokens.patient}?_purge=true`,
      'DELETE',
    );
    expect(erase.status).to.equal(403);
    expect(await journey.opens(tokens)).to.equal(200);
  });

  it('TOKEN-10: client_credentials gives confidential clients system/ scopes and no refresh token', async () => {
    const answer = await credentials({ scope: 'system/*.read' });
    expect([answer.status, answer.scope]).to.deep.equal([200, 'system/*.rs']);
    expect(answer).to.not.have.any.keys('refresh_token', 'id_token', 'patient');
    expect((await journey.read(answer.access_token, '/fhir/R4/Patient')).status).to.equal(200);
    const typed = await credentials({ scope: 'system/Observation.read' });
    expect([typed.status, typed.scope]).to.deep.equal([200, 'system/Observation.rs']);
    expect((await journey.read(typed.access_token, '/fhir/R4/Patient')).status).to.equal(403);
    for (const scope of [
      'patient/*.rs',
      'system/*.cruds',
      'openid',
      'offline_access',
      'system/Patient.cruds',
    ])
      expectFault(await credentials({ scope }), 'invalid_scope');
    const refused = await journey.post('/oauth/token', diary, { grant_type: 'client_credentials' });
    expectFault(refused, 'unauthorized_client');
  });

  it('TOKEN-11: the answer names the scope that was granted, in the v2 form and sorted', async () => {
    const tokens = await journey.tokens(diary, {
      scope: 'patient/Observation.read launch/patient patient/Condition.s patient/Condition.r openid',
    });
    expect(tokens.scope).to.equal('launch/patient openid patient/Condition.rs patient/Observation.rs');
  });

  it('TOKEN-12: a deleted application or project is refused at once', async () => {
    const doomed = await workshop.register();
    const tokens = await journey.tokens(doomed);
    await workshop.owner.done('DELETE', `/applications/${doomed.id}`);
    expect(await journey.opens(tokens)).to.equal(401);
    expectFault(await journey.refresh(doomed, tokens.refresh_token), 'invalid_client', 401);
    const other = await openWorkshop(service);
    const machine = await other.register({
      kind: 'confidential',
      scopes: ['system/*.rs'],
      grant_types: ['client_credentials'],
    });
    const { access_token } = await credentials({}, machine);
    expect((await journey.read(access_token, '/v1/patients')).status).to.equal(200);
    await other.owner.done('DELETE', `/projects/${other.project}`);
    expect((await journey.read(access_token, '/v1/patients')).status).to.equal(401);
    expectFault(await credentials({}, machine), 'invalid_client', 401);
  });
});
