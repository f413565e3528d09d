/** Rules of docs/oauth-rules.md: authorization requests, sign-in and consent. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  controlsOf,
  formOf,
  MOTHER,
  signInTo,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { PageVisitor, type Shown } from '#test/support/page-visitor.ts';

type Changes = Readonly<Record<string, string | undefined>>;

describe('rules of authorization requests', () => {
  let service: InProcess;
  let workshop: Workshop;
  let clientId: string;
  let signedIn: PageVisitor;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    ({ client_id: clientId } = await workshop.register());
    signedIn = new PageVisitor(service.url);
    await signInTo(signedIn, '/signin', MOTHER);
  });
  after(() => stopWorkshop(service));

  /** Sends an authorization request within a session. Without a session, an error is shown on a page. */
  const ask = (changes: Changes = {}, client = clientId) => signedIn.step(authorizePath(client, changes));
  const askSignedOut = (changes: Changes = {}, client = clientId) =>
    new PageVisitor(service.url).step(authorizePath(client, changes));
  const expectPage = (page: Shown, status: number): void => {
    expect([page.status, page.headers.get('location')], page.text.slice(0, 200)).to.deep.equal([
      status,
      null,
    ]);
    expect(page.headers.get('content-type')).to.match(/^text\/html/);
  };
  const expectError = (page: Shown, error: string): URLSearchParams => {
    const location = page.headers.get('location') ?? '';
    expect(location.startsWith(CALLBACK), location).to.equal(true);
    const answer = answerOf(page);
    expect([answer.get('error'), answer.get('code')]).to.deep.equal([error, null]);
    return answer;
  };
  const consentPage = async (changes: Changes = {}, visitor = new PageVisitor(service.url)) => {
    const page = await signInTo(visitor, authorizePath(clientId, changes), MOTHER);
    expect(page.status).to.equal(200);
    return { visitor, page };
  };
  const grants = async (): Promise<number> => {
    const { rows } = await service.pool.query('select count(*)::int as n from consents.grants');
    return rows[0].n;
  };

  it('AUTHZ-1: an unknown client gets a page and no redirect', async () => {
    for (const client of ['client_test_unknown', '', 'x'.repeat(5_000), '\u0000'])
      expectPage(await ask({}, client), 400);
  });

  it('AUTHZ-2: a redirect URI that differs in anything gets a page and no redirect', async () => {
    for (const redirect_uri of [
      'https://diary.example.org/callback',
      'https://diary.example.org/callback?from=annal&',
      'https://diary.example.org/callback/?from=annal',
      'https://diary.example.org/Callback?from=annal',
      'https://DIARY.example.org/callback?from=annal',
      'https://diary.example.org:443/callback?from=annal',
      'https://diary.example.org/x/../callback?from=annal',
      'https://diary.example.org/%63allback?from=annal',
      'https://diary.example.org/callback?from=annal#',
      'https://diary.example.org/callback?from=annal ',
      'https://user@diary.example.org/callback?from=annal',
      'https://diary.example.org.evil.example/callback?from=annal',
      'https://evil.example/?https://diary.example.org/callback?from=annal',
      'http://diary.example.org/callback?from=annal',
      'javascript:alert(1)',
    ])
      expectPage(await ask({ redirect_uri }), 400);
    const local = await workshop.register({ redirect_uris: ['http://127.0.0.1:7001/back'] });
    expectPage(await ask({ redirect_uri: 'http://127.0.0.1:7002/back' }, local.client_id), 400);
  });

  it('AUTHZ-3: a missing redirect URI gets a page', async () => {
    for (const redirect_uri of [undefined, '']) expectPage(await ask({ redirect_uri }), 400);
  });

  it('AUTHZ-4: a state that is missing or too long gets a 422 page that names it', async () => {
    for (const state of [undefined, '', 'x'.repeat(513)]) {
      const page = await ask({ state });
      expectPage(page, 422);
      expect(page.text).to.contain('state');
    }
    expect((await askSignedOut({ state: 'x'.repeat(512) })).status).to.equal(303);
  });

  it('AUTHZ-5: a code_challenge of another length gets a 422 page that names it', async () => {
    for (const length of [42, 129]) {
      const page = await ask({ code_challenge: 'a'.repeat(length) });
      expectPage(page, 422);
      expect(page.text).to.contain('code_challenge');
    }
  });

  it('AUTHZ-6: PKCE is required of public and confidential clients, with S256', async () => {
    const portal = await workshop.register({ kind: 'confidential' });
    for (const client of [clientId, portal.client_id])
      for (const changes of [
        { code_challenge: undefined },
        { code_challenge: undefined, code_challenge_method: undefined },
        { code_challenge_method: 'plain' },
        { code_challenge_method: 's256' },
      ])
        expectError(await ask(changes, client), 'invalid_request');
  });

  it('AUTHZ-7: a parameter that is sent twice is an error', async () => {
    for (const name of [
      'scope',
      'state',
      'code_challenge',
      'response_type',
      'prompt',
      'client_id',
      'redirect_uri',
    ]) {
      const value = new URLSearchParams(authorizePath(clientId).split('?')[1]).get(name) ?? 'login';
      const more = `&${name}=${encodeURIComponent(value)}`.repeat(name === 'prompt' ? 2 : 1);
      const page = await signedIn.step(authorizePath(clientId) + more);
      if (['state', 'client_id', 'redirect_uri'].includes(name))
        expectPage(page, name === 'state' ? 422 : 400);
      else expectError(page, 'invalid_request');
    }
  });

  it('AUTHZ-8: implicit and hybrid flows are refused', async () => {
    for (const response_type of ['token', 'id_token', 'code token', 'code id_token', 'none', 'CODE'])
      expectError(await ask({ response_type }), 'unsupported_response_type');
  });

  it('AUTHZ-9: request objects, request_uri and other response modes are refused', async () => {
    expectError(await ask({ request: 'eyJhbGciOiJub25lIn0.e30.' }), 'request_not_supported');
    expectError(await ask({ request_uri: 'https://evil.example/' }), 'request_uri_not_supported');
    for (const response_mode of ['fragment', 'web_message', 'query.jwt', 'FORM_POST'])
      expectError(await ask({ response_mode }), 'invalid_request');
  });

  it('AUTHZ-10: answers carry iss, errors too', async () => {
    expect(expectError(await ask({ scope: 'magic' }), 'invalid_scope').get('iss')).to.equal(service.url);
    const { visitor, page } = await consentPage();
    const allowed = answerOf(await visitor.submit([...formOf(page), ['decision', 'allow']]));
    expect(allowed.get('iss')).to.equal(service.url);
    expect(allowed.get('code')).to.match(/^[\w-]{43}$/);
  });

  it('AUTHZ-11: state comes back unchanged and adds nothing to the redirect', async () => {
    for (const state of [
      'a b+c&code=evil&iss=https://evil.example#x',
      'x\r\nSet-Cookie: a=b\r\n\r\n<script>',
      '%0d%0aLocation: x',
      '{"äöü": "😀"}',
    ]) {
      const page = await ask({ state, scope: 'magic' });
      const answer = expectError(page, 'invalid_scope');
      expect(answer.getAll('state')).to.deep.equal([state]);
      expect(answer.getAll('iss')).to.deep.equal([service.url]);
      expect(page.headers.get('set-cookie')).to.equal(null);
    }
  });

  it('AUTHZ-12: a scope that is unknown, not registered or of system/ is invalid_scope and named', async () => {
    const narrow = await workshop.register({ scopes: ['patient/Observation.rs?category=laboratory'] });
    for (const [scope, client] of [
      ['patient/Spaceship.rs', clientId],
      ['patient/Observation.rs?status=final', clientId],
      ['user/*.rs', clientId],
      ['system/*.rs', clientId],
      ['profile', clientId],
      ['patient/Observation.rs', narrow.client_id],
      ['patient/*.rs', narrow.client_id],
      ['patient/Observation.cruds?category=laboratory', narrow.client_id],
    ] as const) {
      const answer = expectError(await ask({ scope }, client), 'invalid_scope');
      expect(answer.get('error_description')).to.contain(scope);
    }
  });

  it('AUTHZ-13: aud and resource must name this service', async () => {
    const others = ['https://evil.example/fhir', `${service.url}.evil.example`, `${service.url}/admin`, 'x'];
    for (const url of others) {
      expectError(await ask({ aud: url }), 'invalid_request');
      expectError(await ask({ resource: url }), 'invalid_target');
    }
    for (const url of [service.url, `${service.url}/fhir/R4`, `${service.url}/v1`])
      expect(answerOf(await ask({ aud: url, resource: url })).get('error')).to.equal(null);
  });

  it('AUTHZ-14: what a request says is shown as text', async () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>';
    const { page } = await consentPage({ purpose: evil, state: evil });
    expect(page.text).to.contain('&lt;script&gt;').and.not.contain('<script');
    expect(page.text).to.not.contain('<img src=x');
    expect((await ask({ redirect_uri: evil })).text).to.not.contain('<script');
    expect((await ask({ lang: evil, state: undefined })).text).to.not.contain('<script');
  });

  it('AUTHZ-15: prompt=none shows nothing', async () => {
    expectError(await askSignedOut({ prompt: 'none' }), 'login_required');
    const { visitor } = await consentPage();
    const other = await workshop.register();
    const page = await visitor.step(authorizePath(other.client_id, { prompt: 'none' }));
    expectError(page, 'consent_required');
  });

  it('AUTHZ-16: a production application of an organization without a confirmed domain gets a page', async () => {
    const production = await workshop.register({ environment: 'production' });
    expectPage(await ask({}, production.client_id), 403);
  });

  it('AUTHZ-17: an application without the grant type is refused', async () => {
    const backend = await workshop.register({
      kind: 'confidential',
      scopes: ['patient/*.rs', 'system/*.rs'],
      grant_types: ['client_credentials'],
    });
    expectError(await ask({}, backend.client_id), 'unauthorized_client');
  });

  it('AUTHZ-18: a fault in a request of a browser without a session gets a page that names where it leads', async () => {
    const form = (text: string) => /<form method="post" action="([^"]*)">/.exec(text)?.[1];
    for (const [changes, error] of [
      [{ scope: 'magic' }, 'invalid_scope'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ request: 'eyJ' }, 'request_not_supported'],
      [{ resource: 'https://other.example' }, 'invalid_target'],
      [{ nonce: '' }, 'invalid_request'],
      [{ prompt: 'nonesuch' }, 'invalid_request'],
    ] as const) {
      const page = await askSignedOut(changes);
      expectPage(page, 400);
      expect(page.text).to.include('<bdi>diary.example.org</bdi>').and.include(`${error}: `);
      const [, href = ''] = /<a class="button second" href="([^"]+)"/.exec(page.text) ?? [];
      expect(href.startsWith(CALLBACK), href).to.equal(true);
      const answer = new URL(href.replaceAll('&amp;', '&')).searchParams;
      expect([answer.get('error'), answer.get('state'), answer.get('iss')]).to.deep.equal([
        error,
        'st&te',
        service.url,
      ]);
      expect(page.headers.get('content-security-policy')).to.include("form-action 'none'");
      expectError(await ask(changes), error);
      if (!('prompt' in changes)) expectError(await askSignedOut({ ...changes, prompt: 'none' }), error);
    }
    expectError(await askSignedOut({ prompt: 'none login' }), 'invalid_request');
    const posted = await askSignedOut({ scope: 'magic', response_mode: 'form_post' });
    expectPage(posted, 400);
    expect(form(posted.text)).to.equal(CALLBACK.replace('&', '&amp;'));
    expect(posted.text).to.not.include('<script');
    for (const [lang, says] of [
      ['de', 'Es wurde nichts geteilt'],
      ['ar', 'dir="rtl"'],
    ] as const)
      expect((await askSignedOut({ scope: 'magic', lang })).text).to.include(says);
  });

  it('AUTHZ-19: form_post sends code, state and iss, and errors, in a form that needs no script', async () => {
    const fieldsOf = (page: Shown) =>
      Object.fromEntries(
        [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)].map(
          ([, name = '', value = '']) => [name, value.replace(/&#(\d+);/g, (_, n) => String.fromCharCode(n))],
        ),
      );
    const expectForm = (page: Shown): Record<string, string> => {
      expectPage(page, 200);
      expect(page.text).to.include(`<form method="post" action="${CALLBACK}">`);
      expect(page.text).to.match(/<button class="button">/);
      const policy = page.headers.get('content-security-policy') ?? '';
      expect(policy).to.include('form-action https://diary.example.org');
      const [, script = ''] = /<script>([^<]*)<\/script>/.exec(page.text) ?? [];
      const sum = createHash('sha256').update(script).digest('base64');
      expect(policy).to.include(`script-src 'sha256-${sum}'`);
      expect(page.headers.get('referrer-policy')).to.equal('no-referrer');
      expect(page.headers.get('cache-control')).to.equal('no-store');
      return fieldsOf(page);
    };
    const state = 'a"b&c<d>\'é';
    const { visitor, page } = await consentPage({ response_mode: 'form_post', state });
    expect(page.headers.get('content-security-policy')).to.include("form-action 'self';");
    const allowed = expectForm(await visitor.submit([...formOf(page), ['decision', 'allow']]));
    expect(allowed).to.include({ state, iss: service.url });
    expect(allowed.code).to.match(/^[\w-]{43}$/);
    const again = await consentPage({ response_mode: 'form_post', state });
    expect(expectForm(await again.visitor.submit({ decision: 'deny' }))).to.include({
      error: 'access_denied',
      state,
    });
    expect(expectForm(await ask({ response_mode: 'form_post', scope: 'magic' }))).to.include({
      error: 'invalid_scope',
      state: 'st&te',
      iss: service.url,
    });
    expect(expectForm(await askSignedOut({ response_mode: 'form_post', prompt: 'none' }))).to.include({
      error: 'login_required',
    });
    // A form can't be submitted to an app's URL.
    const redirect_uri = 'org.example.diary:/back';
    const app = await workshop.register({ redirect_uris: [redirect_uri] });
    const sent = await ask({ response_mode: 'form_post', redirect_uri }, app.client_id);
    expect(sent.headers.get('location')).to.match(/^org\.example\.diary:\/back\?error=invalid_request&/);
  });

  it('PAGE-1: no other page can frame the pages', async () => {
    const { page } = await consentPage();
    for (const { headers } of [page, await ask({ state: undefined })]) {
      expect(headers.get('content-security-policy')).to.contain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).to.equal('DENY');
    }
  });

  it('PAGE-2: neither codes nor requests leak by Referer or caches', async () => {
    const { visitor, page } = await consentPage();
    expect(page.headers.get('referrer-policy')).to.be.oneOf(['no-referrer', 'same-origin']);
    expect(page.headers.get('cache-control')).to.equal('no-store');
    const allowed = await visitor.submit([...formOf(page), ['decision', 'allow']]);
    expect(answerOf(allowed).has('code')).to.equal(true);
    expect(allowed.headers.get('referrer-policy')).to.equal('no-referrer');
    expect(allowed.headers.get('cache-control')).to.equal('no-store');
    expect(allowed.text).to.equal('');
  });

  it('PAGE-3: a form that another origin sends decides nothing', async () => {
    const before = await grants();
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null', 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ] as readonly Readonly<Record<string, string>>[]) {
      const { visitor, page } = await consentPage();
      const sent = await visitor.submit([...formOf(page), ['decision', 'allow']], headers);
      expect([sent.status, sent.headers.get('location')]).to.deep.equal([403, null]);
    }
    const { visitor, page } = await consentPage();
    const fields = formOf(page).concat([
      ['decision', 'allow'],
      ['form_token', 'A'.repeat(43)],
    ]);
    expect((await visitor.submit(fields)).status).to.equal(403);
    expect(await grants()).to.equal(before);
  });

  it('PAGE-4: a request belongs to the browser and session that opened it', async () => {
    const { page } = await consentPage();
    const thief = new PageVisitor(service.url);
    await signInTo(thief, authorizePath(clientId), 's-001@patients.example.org');
    expect((await thief.open(page.url)).status).to.equal(400);
    const request = /name="request" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    await thief.open(authorizePath(clientId));
    const sent = await thief.submit([...formOf(thief.page), ['request', request], ['decision', 'allow']]);
    expect([sent.status, sent.headers.get('location')]).to.deep.equal([400, null]);
  });

  it('PAGE-5: a form cannot widen what was asked', async () => {
    const before = await grants();
    const asked = { scope: 'launch/patient patient/Observation.rs' };
    for (const [name, value] of [
      ['days', '3650'],
      ['days', '30.5'],
      ['record', '00000000-0000-7000-8000-000000000000'],
    ] as const) {
      const { visitor, page } = await consentPage(asked);
      const fields = formOf(page).filter(([own]) => own !== name);
      const sent = await visitor.submit([...fields, [name, value], ['decision', 'allow']]);
      expect([sent.status, sent.headers.get('location')], name + value).to.deep.equal([422, null]);
    }
    expect(await grants()).to.equal(before);
    const { visitor, page } = await consentPage(asked);
    const fields = formOf(page).concat([
      ['item', 'read:medications'],
      ['item', 'write:results'],
      ['item', 'offline'],
      ['scope', 'patient/*.cruds'],
      ['decision', 'allow'],
    ]);
    expect(answerOf(await visitor.submit(fields)).has('code')).to.equal(true);
    const { rows } = await service.pool.query(
      'select scopes from consents.grants order by granted_at desc limit 1',
    );
    expect(rows[0].scopes).to.deep.equal(['launch/patient', 'patient/Observation.rs']);
  });

  it('PAGE-6: the redirect after the form is a 303', async () => {
    for (const decision of ['deny', 'allow']) {
      const { visitor, page } = await consentPage();
      expect((await visitor.submit([...formOf(page), ['decision', decision]])).status).to.equal(303);
    }
  });

  it('PAGE-7: the page loads nothing from elsewhere and runs no scripts', async () => {
    const { page } = await consentPage();
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).to.contain("default-src 'none'").and.not.contain('script-src').and.not.contain('unsafe');
    expect(policy).to.contain("form-action 'self' https://diary.example.org;").and.contain("base-uri 'none'");
    expect(page.text).to.not.match(
      /<script|<iframe|<object|<embed|<link[^>]+href="https?:|src="https?:| on\w+="/,
    );
  });

  it('PAGE-8: Deny redirects with access_denied and begins no grant', async () => {
    const before = await grants();
    const { visitor, page } = await consentPage();
    const answer = expectError(
      await visitor.submit([...formOf(page), ['decision', 'deny']]),
      'access_denied',
    );
    expect([answer.get('state'), answer.get('iss')]).to.deep.equal(['st&te', service.url]);
    expect(await grants()).to.equal(before);
  });

  it('PAGE-9: a decision counts once, also when it is sent twice at the same time', async () => {
    const { visitor, page } = await consentPage();
    const before = await grants();
    const fields = [...formOf(page), ['decision', 'allow']] as const;
    const both = await Promise.all([visitor.submit([...fields]), visitor.submit([...fields])]);
    expect(both.filter((sent) => sent.status === 303)).to.have.length(1);
    expect(await grants()).to.equal(before + 1);
    await visitor.open(page.url);
    expect(visitor.page.status).to.equal(409);
  });

  it('PAGE-10: pages send no CORS headers', async () => {
    for (const path of [authorizePath(clientId), '/oauth/consent?request=x', '/signin', '/signin/out'])
      for (const method of ['GET', 'OPTIONS']) {
        const { headers } = await fetch(service.url + path, {
          method,
          redirect: 'manual',
          headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'GET' },
        });
        expect(headers.get('access-control-allow-origin'), `${method} ${path}`).to.equal(null);
        expect(headers.get('access-control-allow-credentials')).to.equal(null);
      }
  });

  it('PAGE-11: a session is a cookie that scripts cannot read, with a new id at each sign-in', async () => {
    const visitor = new PageVisitor(service.url);
    visitor.plant('annal_session', 'A'.repeat(43));
    await signInTo(visitor, authorizePath(clientId), MOTHER);
    const first = visitor.cookie('annal_session');
    expect(first)
      .to.match(/^[\w-]{43}$/)
      .and.not.equal('A'.repeat(43));
    expect(visitor.cookieLine('annal_session'))
      .to.match(/; HttpOnly/i)
      .and.match(/; SameSite=Lax/i);
    await signInTo(visitor, authorizePath(clientId, { prompt: 'login' }), MOTHER);
    expect(visitor.cookie('annal_session')).to.not.equal(first);
    const { rows } = await service.pool.query('select row_to_json(s)::text as row from operations.session s');
    const stored = rows.map(({ row }) => String(row)).join();
    expect(stored).to.not.contain(first).and.not.contain(visitor.cookie('annal_session'));
  });

  it('PAGE-12: no API accepts a session cookie', async () => {
    const { visitor } = await consentPage();
    const secret = visitor.cookie('annal_session') ?? '';
    for (const path of ['/fhir/R4/Patient', '/v1/patients', '/admin/organizations', '/me/patients']) {
      for (const headers of [
        { Cookie: `annal_session=${secret}` },
        { Authorization: `Bearer ${secret}` },
      ] as readonly Readonly<Record<string, string>>[])
        expect((await fetch(service.url + path, { headers })).status, path).to.equal(401);
    }
    expect(controlsOf(visitor.page, 'days')).to.have.length(4);
  });
});
