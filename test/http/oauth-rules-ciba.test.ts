/** Rules of docs/oauth-rules.md: access requests (OpenID CIBA Core 1.0). */
import { expect } from 'chai';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { askAccess, CIBA, CIBA_SCOPE, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { me } from '#test/support/me.ts';
import { Journey, type JourneyClient, PERSON, type TokenAnswer } from '#test/support/oauth-journey.ts';

type Fields = Readonly<Record<string, string | undefined>>;

describe('rules of access requests', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let app: JourneyClient;
  let named = 0;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
  });
  beforeEach(async () => {
    app = await registerCiba(workshop);
  });
  after(() => stopWorkshop(service));

  const address = (): string => {
    named += 1;
    return `p-${named}@example.org`;
  };
  const ask = (fields: Fields = {}, client = app) =>
    askAccess(journey, client, { login_hint: address(), ...fields });
  const poll = (answer: TokenAnswer, client = app) => pollAccess(journey, client, answer);
  const expectFault = (answer: TokenAnswer, error: string, status = 400): void => {
    expect([answer.status, answer.error], answer.text).to.deep.equal([status, error]);
    expect(answer).not.to.have.property('auth_req_id');
  };
  const expectAsked = (answer: TokenAnswer): void => {
    expect(answer.status, answer.text).to.equal(200);
  };
  /** Returns the id of the application's newest request. */
  const newest = async (): Promise<string> => {
    const { rows } = await service.pool.query<{ id: string }>(
      'select id from operations.access_request where client_id = $1 order by created_at desc limit 1',
      [app.client_id],
    );
    return rows[0]?.id ?? '';
  };
  const decide = async (what: 'approve' | 'deny'): Promise<number> => {
    const { json } = await me(service, PERSON, '/patients?environment=sandbox');
    const own = json.data.filter(({ relationship }) => relationship === 'self');
    const statuses: number[] = [];
    // Each sandbox has its own copy of the patient; the application can access the copy in its project.
    for (const { id } of own) {
      const body = what === 'deny' ? {} : { patient_id: id, duration_days: 30 };
      const { status } = await me(
        service,
        PERSON,
        `/access-requests/${await newest()}/${what}`,
        'POST',
        body,
      );
      if (status === 200) return status;
      statuses.push(status);
    }
    return statuses[0] ?? 0;
  };

  it('CIBA-1: only a confidential application that is registered for the grant type asks', async () => {
    expectFault(await askAccess(journey, undefined, { login_hint: address() }), 'invalid_client', 401);
    expectFault(await ask({}, { ...app, client_secret: 'wrong' }), 'invalid_client', 401);
    expectFault(
      await ask({}, await registerCiba(workshop, { grant_types: ['authorization_code'] })),
      'unauthorized_client',
    );
    expectFault(await ask({}, await workshop.register()), 'unauthorized_client');
    await service.pool.query("update projects.application set kind = 'public' where client_id = $1", [
      app.client_id,
    ]);
    expectFault(await ask({ client_id: app.client_id }, { client_id: app.client_id }), 'unauthorized_client');
  });

  it('CIBA-2: a request has exactly one hint, of a known form', async () => {
    const { id_token } = await journey.tokens(app);
    for (const fields of [
      { login_hint: undefined },
      { login_hint: '' },
      { id_token_hint: id_token },
      { login_hint: undefined, login_hint_token: 'x' },
      { login_hint_token: 'x' },
      { login_hint: 'nobody' },
      { login_hint: 'a@b@c' },
      { login_hint: 'with blank@example.org' },
      { login_hint: 'a\u0000@example.org' },
      { login_hint: `${'a'.repeat(300)}@example.org` },
      { login_hint: 'tel:+4712345678' },
    ])
      expectFault(await ask(fields), 'invalid_request');
    for (const fields of [
      { login_hint: address() },
      { login_hint: 'FIRST.Last+tag@Example.Org' },
      { login_hint: '0198c0de-0000-7000-8000-000000000001' },
      { login_hint: undefined, id_token_hint: id_token },
    ])
      expectAsked(await ask(fields));
  });

  it('CIBA-3: scope contains openid, and nothing that is not registered', async () => {
    expectFault(await ask({ scope: undefined }), 'invalid_request');
    for (const scope of [
      'patient/*.rs',
      'openid nonsense',
      'openid system/*.rs',
      'openid profile',
      'openid patient/Observation.rs?code=1',
      'openid patient/Unknown.rs',
    ])
      expectFault(await ask({ scope }), 'invalid_scope');
    const once = await registerCiba(workshop, { grant_types: [CIBA], redirect_uris: [] });
    expectFault(await ask({ scope: 'openid offline_access' }, once), 'invalid_scope');
    expectAsked(await ask({ scope: 'openid patient/*.read' }));
    const { rows } = await service.pool.query('select scope from operations.access_request where id = $1', [
      await newest(),
    ]);
    expect(rows[0]?.scope).to.equal('openid patient/*.rs');
  });

  it('CIBA-4: binding_message is text of at most 64 characters', async () => {
    for (const binding_message of ['x'.repeat(65), '😀'.repeat(65), 'two\nlines', 'a\u0000', '\ufffd'])
      expectFault(await ask({ binding_message }), 'invalid_binding_message');
    for (const binding_message of ['x'.repeat(64), '😀'.repeat(64), '<script>alert(1)</script>', ' '])
      expectAsked(await ask({ binding_message }));
  });

  it('CIBA-5: requested_expiry shortens a request and never lengthens it', async () => {
    for (const [requested_expiry, expires_in] of [
      ['60', 60],
      ['600', 600],
      ['86400', 600],
      ['999999999', 600],
    ] as const)
      expect((await ask({ requested_expiry })).expires_in).to.equal(expires_in);
    for (const requested_expiry of ['0', '-1', '1.5', 'x', '1e3', '9999999999'])
      expectFault(await ask({ requested_expiry }), 'invalid_request');
    const short = await ask({ requested_expiry: '1' });
    await letPass(service, 2);
    expectFault(await poll(short), 'expired_token');
  });

  it('CIBA-6: only an ID token that this service issued to the client is a hint', async () => {
    const { id_token } = await journey.tokens(app);
    const [header = '', claims = '', signature = ''] = id_token.split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const other = await registerCiba(workshop);
    const foreign = (await journey.tokens(other)).id_token;
    for (const id_token_hint of [
      foreign,
      `${header}.${claims}.${signature.split('').reverse().join('')}`,
      `${none}.${claims}.`,
      `${header}.${Buffer.from('{"sub":"x"}').toString('base64url')}.${signature}`,
      'at_x',
      'x'.repeat(20_000),
    ])
      expectFault(await ask({ login_hint: undefined, id_token_hint }), 'invalid_request');
    expectAsked(await ask({ login_hint: undefined, id_token_hint: id_token }));
    expectAsked(await ask({ login_hint: undefined, id_token_hint: foreign }, other));
  });

  it('CIBA-7: polls are slowed down', async () => {
    const answer = await ask();
    expect(answer).to.include({ expires_in: 600, interval: 5 });
    expectFault(await poll(answer), 'authorization_pending');
    for (const wait of [0, 3, 7, 12, 17]) {
      await letPass(service, wait);
      expectFault(await poll(answer), 'slow_down');
    }
    const { rows } = await service.pool.query('select pace from operations.access_request where id = $1', [
      await newest(),
    ]);
    expect(rows[0]?.pace).to.equal(30);
    await letPass(service, 30);
    expectFault(await poll(answer), 'authorization_pending');
    const crowd = await ask();
    const polls = await Promise.all(Array.from({ length: 5 }, () => poll(crowd)));
    expect(polls.map(({ error }) => error).sort()).to.deep.equal([
      'authorization_pending',
      ...Array.from({ length: 4 }, () => 'slow_down'),
    ]);
  });

  it('CIBA-8: a denied request is access_denied, one whose time is over expired_token', async () => {
    const denied = await ask({ login_hint: PERSON });
    expect(await decide('deny')).to.equal(200);
    for (const again of [denied, denied]) expectFault(await poll(again), 'access_denied');
    const late = await ask({ login_hint: PERSON });
    await letPass(service, 601);
    for (const again of [late, late]) expectFault(await poll(again), 'expired_token');
    // Tokens of an approval can also be collected for only ten minutes.
    const approved = await ask({ login_hint: PERSON });
    expect(await decide('approve')).to.equal(200);
    await letPass(service, 601);
    expectFault(await poll(approved), 'expired_token');
  });

  it('CIBA-9: auth_req_id works for its client only', async () => {
    const other = await registerCiba(workshop);
    const answer = await ask({ login_hint: PERSON });
    expect(await decide('approve')).to.equal(200);
    expectFault(await poll(answer, other), 'invalid_grant');
    const unknown = await pollAccess(journey, other, { auth_req_id: 'x'.repeat(43) });
    expect(unknown.text).to.equal((await poll(answer, other)).text);
    expectFault(await pollAccess(journey, app, answer, { auth_req_id: undefined }), 'invalid_request');
    expectFault(
      await pollAccess(journey, app, answer, { resource: 'https://evil.example' }),
      'invalid_target',
    );
    expect((await poll(answer)).status).to.equal(200);
  });

  it('CIBA-10: an approved request gives tokens once, also to parallel polls', async () => {
    const answer = await ask({ login_hint: PERSON });
    expect(await decide('approve')).to.equal(200);
    const polls = await Promise.all(Array.from({ length: 6 }, () => poll(answer)));
    const won = polls.filter(({ status }) => status === 200);
    expect(won).to.have.length(1);
    for (const lost of polls.filter(({ status }) => status !== 200)) expectFault(lost, 'invalid_grant');
    for (const tokens of won) expect(await journey.opens(tokens)).to.equal(200);
    expectFault(await poll(answer), 'invalid_grant');
  });

  it('CIBA-11: a further request replaces the one that waits', async () => {
    const login_hint = address();
    const first = await ask({ login_hint });
    const other = await ask();
    const second = await ask({ login_hint: login_hint.toUpperCase() });
    expectFault(await poll(first), 'expired_token');
    expectFault(await poll(second), 'authorization_pending');
    expectFault(await poll(other), 'authorization_pending');
    await letPass(service, 30);
    const crowd = await Promise.all(Array.from({ length: 6 }, () => ask({ login_hint })));
    const polls = await Promise.all([second, ...crowd].map((each) => poll(each)));
    expect(polls.map(({ error }) => error).sort()).to.deep.equal([
      'authorization_pending',
      ...Array.from({ length: 6 }, () => 'expired_token'),
    ]);
  });

  it('CIBA-12: ten requests with a hint in an hour', async () => {
    const login_hint = address();
    const crowd = await Promise.all(Array.from({ length: 14 }, () => ask({ login_hint })));
    expect(crowd.filter(({ status }) => status === 200)).to.have.length(10);
    const refused = await ask({ login_hint });
    expectFault(refused, 'temporarily_unavailable', 429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(3_500, 3_600);
    expectAsked(await ask());
    expectAsked(await ask({ login_hint }, await registerCiba(workshop)));
    await letPass(service, 3_400);
    expectFault(await ask({ login_hint }), 'temporarily_unavailable', 429);
    await letPass(service, 201);
    expectAsked(await ask({ login_hint }));
  });

  it('CIBA-13: in production the organization needs a confirmed domain', async () => {
    const live = await registerCiba(workshop, { environment: 'production' });
    expectFault(await ask({}, live), 'unauthorized_client');
    await workshop.owner.done('POST', `/organizations/${workshop.organization}/verify`);
    expectAsked(await ask({}, live));
  });

  it('CIBA-14: answers are not stored, and the endpoint takes forms by POST from servers', async () => {
    const url = `${service.url}/oauth/bc-authorize`;
    for (const { headers } of [
      await ask(),
      await ask({ scope: undefined }),
      await askAccess(journey, undefined, {}),
    ]) {
      expect([headers.get('cache-control'), headers.get('pragma')]).to.deep.equal(['no-store', 'no-cache']);
      expect(headers.get('content-type')).to.match(/^application\/json/);
    }
    expect((await fetch(url)).status).to.equal(405);
    const json = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect([json.status, ((await json.json()) as { error: string }).error]).to.deep.equal([
      415,
      'invalid_request',
    ]);
    const twice = new URLSearchParams({ scope: CIBA_SCOPE, login_hint: address() });
    twice.append('login_hint', address());
    expectFault(await journey.post('/oauth/bc-authorize', app, twice), 'invalid_request');
    const crossed = await journey.post(
      '/oauth/bc-authorize',
      app,
      { scope: CIBA_SCOPE, login_hint: address() },
      { Origin: 'https://evil.example' },
    );
    expect(crossed.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('CIBA-15: signed requests are refused, not ignored', async () => {
    for (const name of ['request', 'request_uri']) expectFault(await ask({ [name]: 'x' }), 'invalid_request');
  });

  it('CIBA-16: auth_req_id is stored as a hash only, and no log has it', async () => {
    const answer = await ask();
    await poll(answer);
    const id = String(answer.auth_req_id);
    expect(id).to.match(/^[\w-]{43}$/);
    const { rows } = await service.pool.query('select r::text as row from operations.access_request r');
    expect(rows.map(({ row }) => row).join()).not.to.include(id);
    const notes = await service.pool.query('select n::text as row from operations.request_log n');
    expect([...service.log, ...notes.rows.map(({ row }) => row)].join()).not.to.include(id);
  });
});
