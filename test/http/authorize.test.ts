/**
 * `/oauth/authorize`: which requests end on a page, which are redirected, and how a request waits for the person to sign in.
 */
import { expect } from 'chai';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  controlsOf,
  formOf,
  MOTHER,
  openWorkshop,
  signInTo,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';

describe('the authorization endpoint', () => {
  let service: InProcess;
  let workshop: Workshop;
  let clientId: string;
  let applicationId: string;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    ({ client_id: clientId, id: applicationId } = await workshop.register());
  });

  after(() => stopWorkshop(service));

  const ask = (changes: Readonly<Record<string, string | undefined>> = {}, client = clientId) =>
    new PageVisitor(service.url).step(authorizePath(client, changes));
  const post = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${service.url}/oauth/authorize`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams(path.split('?')[1]),
      headers,
    });

  describe('ends on a page, and never redirects,', () => {
    const stays = async (
      changes: Readonly<Record<string, string | undefined>>,
      { status = 400, names = '', client = clientId } = {},
    ) => {
      const page = await ask(changes, client);
      expect(page.status).to.equal(status);
      expect(page.headers.get('location')).to.equal(null);
      expect(page.headers.get('content-type')).to.match(/^text\/html/);
      expect(page.text).to.include('Nothing was shared').and.include(names);
      expect(page.headers.get('content-security-policy')).to.include("form-action 'none'");
      return page;
    };

    it('without a known client', async () => {
      await stays({ client_id: undefined }, { names: 'client_id is missing' });
      await stays({}, { client: 'client_test_unknown', names: 'client_id is unknown' });
      await stays({}, { client: "'; drop table x\u0000", names: 'client_id is unknown' });
    });

    it('without a registered redirect URI', async () => {
      await stays({ redirect_uri: undefined }, { names: 'redirect_uri is missing' });
      await stays({ redirect_uri: `${CALLBACK}&x=1` }, { names: 'redirect_uri differs' });
      await stays({ redirect_uri: 'https://evil.example/' }, { names: 'redirect_uri differs' });
      const twice = await new PageVisitor(service.url).step(
        `${authorizePath(clientId)}&redirect_uri=${encodeURIComponent(CALLBACK)}`,
      );
      expect(twice.status).to.equal(400);
    });

    it('if state or code_challenge has another length: 422, with its name', async () => {
      for (const state of [undefined, '', 'x'.repeat(513)])
        await stays({ state }, { status: 422, names: 'state' });
      for (const length of [1, 42, 129])
        await stays({ code_challenge: 'x'.repeat(length) }, { status: 422, names: 'code_challenge' });
    });

    it('for a production application whose organization has no confirmed domain', async () => {
      const production = await workshop.register({ environment: 'production' });
      await stays({}, { client: production.client_id, status: 403, names: 'has not confirmed a domain' });
    });

    it('in the language of lang, with a menu that keeps the request', async () => {
      const arabic = await ask({ lang: 'ar', redirect_uri: 'https://evil.example/' });
      expect(arabic.text).to.include('<html lang="ar" dir="rtl">');
      expect(arabic.text).to.match(/href="\/oauth\/authorize\?[^"]*redirect_uri=[^"]*&amp;lang=de"/);
      expect((await ask({ ui_locales: 'tlh nb-NO ar', state: '' })).text).to.include('<html lang="nb"');
      expect((await ask({ ui_locales: 'ar', lang: 'de', state: '' })).text).to.include('<html lang="de"');
      expect((await ask({ lang: 'tlh', state: '' })).text).to.include('<html lang="en" dir="ltr">');
    });

    it('after the application was deleted', async () => {
      const { id, client_id } = await workshop.register();
      expect((await ask({}, client_id)).status).to.equal(303);
      await workshop.owner.done('DELETE', `/applications/${id}`);
      await stays({}, { client: client_id, names: 'client_id is unknown' });
    });
  });

  describe('redirects with error, state and iss in a session', () => {
    let signedIn: PageVisitor;

    before(async () => {
      signedIn = new PageVisitor(service.url);
      await signInTo(signedIn, '/signin', MOTHER);
    });

    const ask = (changes: Readonly<Record<string, string | undefined>> = {}, client = clientId) =>
      signedIn.step(authorizePath(client, changes));
    const cases: readonly (readonly [string, Readonly<Record<string, string | undefined>>])[] = [
      ['invalid_request', { code_challenge: undefined }],
      ['invalid_request', { code_challenge_method: 'plain' }],
      ['invalid_request', { response_type: undefined }],
      ['unsupported_response_type', { response_type: 'token' }],
      ['invalid_request', { response_mode: 'fragment' }],
      ['request_not_supported', { request: 'eyJhbGciOiJub25lIn0.e30.' }],
      ['request_uri_not_supported', { request_uri: 'urn:ietf:params:oauth:request_uri:x' }],
      ['invalid_scope', { scope: 'patient/Observation.rs magic' }],
      ['invalid_scope', { scope: 'system/*.rs' }],
      ['invalid_request', { aud: 'https://other.example.org/fhir' }],
      ['invalid_target', { resource: 'https://other.example.org/fhir' }],
      ['invalid_request', { prompt: 'none login' }],
      ['invalid_request', { max_age: 'soon' }],
      ['consent_required', { prompt: 'none' }],
    ];
    for (const [error, changes] of cases) {
      it(`${error} for ${JSON.stringify(changes)}`, async () => {
        const page = await ask(changes);
        expect(page.status).to.equal(303);
        const location = page.headers.get('location') ?? '';
        expect(location).to.match(/^https:\/\/diary\.example\.org\/callback\?from=annal&error=/);
        expect(Object.fromEntries(answerOf(page))).to.include({ error, state: 'st&te', iss: service.url });
        expect(page.headers.get('referrer-policy')).to.equal('no-referrer');
        expect(page.headers.get('cache-control')).to.equal('no-store');
      });
    }

    it('for a parameter that is sent twice, in the query or in query and form', async () => {
      const path = authorizePath(clientId);
      const page = await signedIn.step(`${path}&scope=openid`);
      expect(answerOf(page).get('error_description')).to.equal('scope was sent twice');
      const both = await fetch(`${service.url}/oauth/authorize?lang=de`, {
        method: 'POST',
        redirect: 'manual',
        headers: { Cookie: `annal_session=${signedIn.cookie('annal_session') ?? ''}` },
        body: new URLSearchParams(authorizePath(clientId, { lang: 'de' }).split('?')[1]),
      });
      expect(both.headers.get('location')).to.include('error_description=lang%20was%20sent%20twice');
    });

    it('for a misspelt scope, with the one that was probably meant', async () => {
      for (const [scope, meant] of [
        ['patient/Patiet.rs', 'did you mean `patient/Patient.rs`?'],
        ['offline_acess', 'did you mean `offline_access`?'],
      ] as const) {
        const answer = answerOf(await ask({ scope }));
        expect(answer.get('error')).to.equal('invalid_scope');
        expect(answer.get('error_description')).to.include(meant);
      }
    });

    it('for an application without the grant type, or without the scope', async () => {
      const server = await workshop.register({
        kind: 'confidential',
        scopes: ['patient/Condition.rs', 'system/*.rs'],
        grant_types: ['client_credentials'],
      });
      expect(answerOf(await ask({}, server.client_id)).get('error')).to.equal('unauthorized_client');
      const narrow = await workshop.register({
        scopes: ['launch/patient', 'patient/Observation.rs?category=laboratory'],
      });
      const page = await ask({}, narrow.client_id);
      expect(answerOf(page).get('error')).to.equal('invalid_scope');
      expect(answerOf(page).get('error_description')).to.include('patient/Observation.rs');
    });
  });

  it('takes a form as well, and goes on with GET, with which browsers send their cookies', async () => {
    const answer = await post(authorizePath(clientId, { lang: 'ar' }));
    expect(answer.status).to.equal(303);
    expect(answer.headers.get('location')).to.match(/\/oauth\/consent\?request=[\w-]{43}&lang=ar$/);
    expect(answer.headers.get('set-cookie')).to.equal(null);
    expect((await post(authorizePath(clientId, { state: '' }))).status).to.equal(422);
    const json = await fetch(`${service.url}/oauth/authorize`, {
      method: 'POST',
      body: '{}',
      redirect: 'manual',
    });
    expect(json.status).to.equal(415);
  });

  it('sends no CORS headers, and refuses preflights', async () => {
    for (const path of [authorizePath(clientId), '/oauth/consent?request=x']) {
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await fetch(service.url + path, {
          method,
          redirect: 'manual',
          headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' },
        });
        expect(headers.get('access-control-allow-origin')).to.equal(null);
      }
    }
  });

  it('shows the page at once to a person who is signed in, else after the sign-in', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    expect(page.status).to.equal(200);
    expect(page.url).to.match(/\/oauth\/consent\?request=[\w-]{43}&lang=en$/);
    const again = await visitor.step(authorizePath(clientId));
    expect(again.status).to.equal(200);
    expect(again.text).to.include('Health diary').and.include('Clinic &amp; Sons');
    expect(again.headers.get('content-security-policy')).to.include(
      "form-action 'self' https://diary.example.org; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(again.headers.get('x-frame-options')).to.equal('DENY');
    expect(again.headers.get('cache-control')).to.equal('no-store');
    // Only Annal's own pages may see this page's URL.
    expect(again.headers.get('referrer-policy')).to.equal('same-origin');
    expect(again.text).not.to.match(/<script|javascript:/);
    const cookie = visitor.cookieLine('annal_request') ?? '';
    expect(cookie)
      .to.match(/HttpOnly/)
      .and.match(/SameSite=Lax/);
  });

  it('keeps two tabs apart, through the sign-in', async () => {
    const visitor = new PageVisitor(service.url);
    const first = await visitor.open(
      authorizePath(clientId, { state: 'first', scope: 'patient/Condition.rs' }),
    );
    await visitor.open(authorizePath(clientId, { state: 'second' }));
    const second = await visitor.submit({ email: MOTHER });
    expect(second.text).to.include('laboratory results');
    const back = first.path.find((url) => url.includes('/signin?')) ?? '';
    const returnTo = new URL(back).searchParams.get('return_to') ?? '';
    const one = await visitor.open(returnTo);
    expect(one.text).to.include('diagnoses').and.not.include('laboratory results');
    expect(answerOf(await visitor.submit({ decision: 'deny' })).get('state')).to.equal('first');
    await visitor.open(second.url);
    expect(answerOf(await visitor.submit({ decision: 'deny' })).get('state')).to.equal('second');
  });

  it('keeps two tabs apart that are opened at once', async () => {
    const visitor = new PageVisitor(service.url);
    await signInTo(visitor, authorizePath(clientId), MOTHER);
    const [one, other] = await Promise.all(
      ['one', 'other'].map((state) => {
        const tab = new PageVisitor(service.url);
        tab.plant('annal_session', visitor.cookie('annal_session') ?? '');
        return tab.open(authorizePath(clientId, { state })).then(() => tab);
      }),
    );
    expect(one?.cookie('annal_request')).not.to.equal(other?.cookie('annal_request'));
    // As in a real browser, the second cookie replaced the first.
    one?.plant('annal_request', other?.cookie('annal_request') ?? '');
    for (const [tab, state] of [
      [one, 'one'],
      [other, 'other'],
    ] as const) {
      const denied = await tab?.submit({ decision: 'deny' });
      expect(denied === undefined ? undefined : answerOf(denied).get('state')).to.equal(state);
    }
  });

  it('shows a waiting request to no other browser, and decides it in no other session', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    const other = new PageVisitor(service.url);
    await signInTo(other, authorizePath(clientId), 's-001@patients.example.org');
    expect((await other.open(page.url)).text).to.include('no longer open');
    const stolen = /name="request" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    await other.open(authorizePath(clientId));
    expect((await other.submit({ request: stolen, decision: 'deny' })).status).to.equal(400);
    // The first browser signs in as another person. The page that it showed before can no longer decide anything.
    const session = visitor.cookie('annal_session') ?? '';
    await visitor.open(page.url.replace('/oauth/consent?', '/oauth/consent?account=other&'));
    await visitor.submit({ email: 's-001@patients.example.org' });
    expect(visitor.cookie('annal_session')).not.to.equal(session);
    const newer = visitor.page;
    expect(newer.text).to.include('s-001@patients.example.org');
    const earlier = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    expect((await visitor.submit({ form_token: earlier, decision: 'deny' })).status).to.equal(403);
  });

  it('takes a decision once, and no form of another site', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    const foreign = await visitor.submit({ decision: 'deny' }, { 'Sec-Fetch-Site': 'cross-site' });
    expect(foreign.status).to.equal(403);
    expect((await visitor.open(page.url)).status).to.equal(200);
    expect((await visitor.submit({ decision: 'deny' }, { Origin: 'https://evil.example' })).status).to.equal(
      403,
    );
    await visitor.open(page.url);
    const denied = await visitor.submit({ decision: 'deny' });
    expect(denied.status).to.equal(303);
    expect(Object.fromEntries(answerOf(denied))).to.include({
      error: 'access_denied',
      state: 'st&te',
      iss: service.url,
    });
    const again = await visitor.open(page.url);
    expect(again.status).to.equal(409);
    expect(again.text).to.include('You have already denied this');
    // Only the session that made the decision is told the decision.
    const other = await new PageVisitor(service.url).open(page.url);
    expect([other.status, other.text.includes('no longer open')]).to.deep.equal([400, true]);
  });

  it('tells a person who presses Allow again, or goes back, that access was given, and gives no second code', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    const form = [...formOf(page), ['decision', 'allow']] as const;
    const first = await visitor.submit([...form]);
    expect(answerOf(first).get('code')).to.be.a('string');
    await visitor.open(page.url);
    const { text, status } = visitor.page;
    expect([status, text.includes('You have already allowed this')]).to.deep.equal([409, true]);
    expect(text).to.include('You gave <bdi>Health diary</bdi> access.');
    const german = await visitor.open(page.url.replace('lang=en', 'lang=de'));
    expect(german.text).to.include('Sie haben das bereits erlaubt');
  });

  it('leads to the sign-in when the session has ended before the decision', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    await service.pool.query('delete from operations.session');
    const stopped = await visitor.submit({ decision: 'allow' });
    expect(stopped.status).to.equal(401);
    const next = /class="button" href="([^"]+)"/.exec(stopped.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(new URL(next, service.url).href).to.equal(page.url);
    await visitor.open(next);
    expect((await visitor.submit({ email: MOTHER })).url).to.equal(page.url);
  });

  it('forgets a request after an hour', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await signInTo(visitor, authorizePath(clientId), MOTHER);
    await service.pool.query(
      "update operations.authorization_request set expires_at = now() - interval '1 second'",
    );
    expect((await visitor.submit({ decision: 'allow' })).status).to.equal(400);
    expect((await visitor.open(page.url)).text).to.include('no longer open');
    await ask();
    const { rows } = await service.pool.query('select from operations.authorization_request');
    expect(rows).to.have.length(1);
  });

  it('signs people in again for prompt=login, select_account and max_age', async () => {
    const visitor = new PageVisitor(service.url);
    await signInTo(visitor, authorizePath(clientId), MOTHER);
    for (const changes of [{ prompt: 'login' }, { prompt: 'select_account consent' }, { max_age: '0' }]) {
      const before = visitor.cookie('annal_session');
      await visitor.open(authorizePath(clientId, changes));
      expect(visitor.page.url, JSON.stringify(changes)).to.include('/dev/authorize?');
      const page = await visitor.submit({ email: MOTHER });
      expect(page.status).to.equal(200);
      expect(page.url).to.include('/oauth/consent?');
      expect(visitor.cookie('annal_session')).not.to.equal(before);
    }
    expect(
      (await visitor.step(authorizePath(clientId, { max_age: '600', prompt: 'consent' }))).status,
    ).to.equal(200);
  });

  it('takes no session that began for another request and has an older auth_time, for the page or its form', async () => {
    for (const changes of [{ prompt: 'login' }, { max_age: '60' }]) {
      const visitor = new PageVisitor(service.url);
      const waits = await visitor.step(authorizePath(clientId, changes));
      const to =
        new URL(waits.headers.get('location') ?? '', service.url).searchParams.get('return_to') ?? '';
      await signInTo(visitor, authorizePath(clientId), MOTHER);
      const fields = formOf(visitor.page);
      const formToken = /name="form_token" value="([^"]+)"/.exec(visitor.page.text)?.[1] ?? '';
      await service.pool.query("update operations.session set auth_time = now() - interval '1 hour'");
      expect(await visitor.step(to), JSON.stringify(changes)).to.include({ status: 303 });
      await visitor.open(to);
      expect(visitor.page.url).to.include('/dev/authorize?');
      const request = new URL(to, service.url).searchParams.get('request') ?? '';
      const body = new URLSearchParams([
        ...fields.map(([name, value]) => [name, value]),
        ['request', request],
        ['form_token', formToken],
        ['decision', 'allow'],
      ]);
      const made = await fetch(`${service.url}/oauth/consent`, {
        method: 'POST',
        redirect: 'manual',
        body,
        headers: { Origin: service.url, Cookie: `annal_session=${visitor.cookie('annal_session')}` },
      });
      expect(made.status).to.equal(401);
    }
  });

  it('answers prompt=none with a code only for a grant that covers the request', async () => {
    const visitor = new PageVisitor(service.url);
    const none = (scope: string, more = {}) =>
      visitor.step(authorizePath(clientId, { prompt: 'none', scope, ...more }));
    await signInTo(visitor, authorizePath(clientId, { scope: 'openid patient/*.rs' }), MOTHER);
    const page = visitor.page;
    expect(answerOf(await none('patient/Condition.rs')).get('error')).to.equal('consent_required');
    await visitor.open(page.url);
    const code = answerOf(await visitor.submit([...formOf(visitor.page), ['decision', 'allow']])).get('code');
    expect(code).to.match(/^[\w-]{43}$/);
    const silent = answerOf(await none('openid patient/Condition.rs'));
    expect(silent.get('code'))
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(code);
    expect(answerOf(await none('patient/*.cruds')).get('error')).to.equal('consent_required');
    const unknown = { patient: '00000000-0000-8000-8000-000000000000' };
    expect(answerOf(await none('patient/Condition.rs', unknown)).get('error')).to.equal('consent_required');
    await service.pool.query("update operations.session set auth_time = now() - interval '1 hour'");
    const old = await none('patient/Condition.rs', { max_age: '60' });
    expect(answerOf(old).get('error')).to.equal('login_required');
    const native = await workshop.register({ redirect_uris: ['org.example.diary:/back'] });
    const changes = { prompt: 'none', redirect_uri: 'org.example.diary:/back' };
    const claimed = await visitor.step(authorizePath(native.client_id, changes));
    expect(claimed.headers.get('location')).to.match(/^org\.example\.diary:\/back\?error=consent_required&/);
  });

  it('reads the application again at every step', async () => {
    const visitor = new PageVisitor(service.url);
    const { id, client_id } = await workshop.register();
    await signInTo(visitor, authorizePath(client_id), MOTHER);
    const fields = formOf(visitor.page);
    await workshop.owner.done('DELETE', `/applications/${id}`);
    const page = await visitor.submit([...fields, ['decision', 'allow']]);
    expect(page.status).to.equal(400);
    expect(page.headers.get('location')).to.equal(null);
  });

  it('is not confused by patients of another project: the page offers those of the application’s sandbox', async () => {
    const other = await openWorkshop(service);
    const { client_id } = await other.register();
    const visitor = new PageVisitor(service.url);
    const here = controlsOf(await signInTo(visitor, authorizePath(clientId), MOTHER), 'record');
    const there = controlsOf(await visitor.open(authorizePath(client_id)), 'record');
    expect(here).to.have.length(3);
    expect(there).to.have.length(3);
    const ids = (all: typeof here) => all.map(({ value }) => value).filter((value) => value !== 'new');
    expect(ids(here).filter((id) => ids(there).includes(id))).to.deep.equal([]);
    // A record of the other project isn't offered, and submitting a form with its id returns the page again.
    await visitor.open(authorizePath(clientId));
    const refused = await visitor.submit([
      ['record', ids(there)[0] ?? ''],
      ['item', 'read:results'],
      ['days', '30'],
      ['decision', 'allow'],
    ]);
    expect(refused.status).to.equal(422);
    expect(refused.text).to.include('Choose a health record');
    expect(applicationId).to.match(/^app_/);
  });
});
