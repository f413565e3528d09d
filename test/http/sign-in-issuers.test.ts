/**
 * Signing in at configured issuers: honest issuers (oidc-provider), and an issuer that lies in every way that must not work.
 */
import { expect } from 'chai';
import { issuerKey } from '#src/signin/relying-party.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { CLIENT, startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';
import { PageVisitor, type Shown } from '#test/support/page-visitor.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type Script, type ScriptedIssuer, startScriptedIssuer } from '#test/support/scripted-issuer.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the sign-in at configured issuers', () => {
  let service: InProcess;
  let open: TestIssuer;
  let confidential: TestIssuer;
  let scripted: ScriptedIssuer;

  before(async () => {
    open = await startIssuer();
    confidential = await startIssuer({ secret: 'a secret of the client/+', claimsByUserinfo: true });
    scripted = await startScriptedIssuer();
    service = await startInProcess(
      {},
      {
        OIDC_ISSUERS: `${open.url} ${CLIENT}, ${confidential.url} ${CLIENT} IDP_SECRET, ${scripted.url} our-client, ${scripted.url} other-client`,
        IDP_SECRET: 'a secret of the client/+',
      },
    );
    for (const issuer of [open, confidential]) await issuer.register(callbackOf(issuer.url));
  });

  after(async () => {
    await service.stop();
    await Promise.all([open.stop(), confidential.stop(), scripted.stop()]);
    await removeTemporaryFolders();
  });

  beforeEach(() => {
    scripted.script = {};
  });

  const callbackOf = (issuer: string): string => `${service.url}/signin/callback/${issuerKey(issuer)}`;
  const at = (issuer: string, more: Readonly<Record<string, string>> = {}): string =>
    `/signin?${new URLSearchParams({ issuer: issuerKey(issuer), ...more })}`;
  const isSignedIn = async (visitor: PageVisitor): Promise<boolean> =>
    (await visitor.open('/signin/out')).text.includes('You are signed in');

  /** Signs in through oidc-provider's pages. */
  const signIn = async (issuer: TestIssuer, login: string, visitor = new PageVisitor(service.url)) => {
    await visitor.open(at(issuer.url, { return_to: '/signin/out?lang=en' }));
    await visitor.submit({ login, password: 'any' });
    if (visitor.page.url.startsWith(issuer.url)) await visitor.submit();
    return visitor;
  };

  /** Signs in at the scripted issuer. */
  const scriptedSignIn = (
    script: Script,
    more: Readonly<Record<string, string>> = {},
    visitor = new PageVisitor(service.url),
  ) => {
    scripted.script = script;
    return visitor.open(at(scripted.url, more));
  };

  const refused = (page: Shown, status: number, title: string): void => {
    expect(page.text).to.include(`<h1>${title}</h1>`);
    expect(page.status).to.equal(status);
    expect(page.headers.get('set-cookie') ?? '').not.to.include('annal_session');
  };

  it('lets a person choose among several issuers', async () => {
    const page = await new PageVisitor(service.url).open(
      '/signin?return_to=/signin/out&prompt=login&max_age=60&login_hint=a%40example.org&lang=de',
    );
    const links = [...page.text.matchAll(/<a class="button[^"]*" href="([^"]+)"><bdi>([^<]+)/g)];
    expect(links.map(([, , name]) => name)).to.deep.equal(
      [open, confidential, scripted].map(({ url }) => new URL(url).host),
    );
    const first = new URL(links[0]?.[1]?.replaceAll('&amp;', '&') ?? '', service.url).searchParams;
    expect(Object.fromEntries(first)).to.deep.equal({
      return_to: '/signin/out',
      issuer: issuerKey(open.url),
      prompt: 'login',
      max_age: '60',
      login_hint: 'a@example.org',
      lang: 'de',
    });
  });

  it('signs in as a public client with PKCE, and as a client with a secret', async () => {
    const one = await signIn(open, 'ada');
    expect(one.page.url).to.equal(`${service.url}/signin/out?lang=en`);
    expect(one.page.text).to.include('Person ada').and.to.include('ada@example.org');
    const exchanged = one.page.path.find((url) => url.startsWith(callbackOf(open.url)));
    expect(exchanged, 'the issuer’s own redirect URI').to.be.a('string');
    const two = await signIn(confidential, 'ben');
    expect(two.page.text, 'name and address from the userinfo endpoint')
      .to.include('Person ben')
      .and.to.include('ben@example.org');
  });

  it('asks with state, nonce, PKCE, its redirect URI and what the page wishes', async () => {
    const visitor = new PageVisitor(service.url);
    const first = await visitor.step(
      at(scripted.url, { prompt: 'login', login_hint: 'x@example.org', lang: 'fr' }),
    );
    const asked = Object.fromEntries(new URL(first.headers.get('location') ?? '').searchParams);
    expect(asked).to.include({
      client_id: 'our-client',
      redirect_uri: callbackOf(scripted.url),
      response_type: 'code',
      code_challenge_method: 'S256',
      prompt: 'login',
      max_age: '0',
      login_hint: 'x@example.org',
      ui_locales: 'fr',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]).to.match(/^[\w-]{43}$/);
    const again = await visitor.step(at(scripted.url));
    expect(new URL(again.headers.get('location') ?? '').searchParams.get('state')).not.to.equal(asked.state);
  });

  it('keeps no secret in the database', async () => {
    const visitor = new PageVisitor(service.url);
    const { headers } = await visitor.step(at(scripted.url));
    const sent = new URL(headers.get('location') ?? '').searchParams;
    const { rows } = await service.pool.query('SELECT s::text AS row FROM operations.sign_in s');
    const stored = rows.map(({ row }) => String(row)).join('\n');
    expect(stored).to.include(scripted.url);
    for (const secret of [sent.get('state'), sent.get('nonce'), visitor.cookie('annal_sign_in')])
      expect(stored).not.to.include(secret);
    await visitor.open(at(scripted.url));
    const { rows: sessions } = await service.pool.query('SELECT s::text AS row FROM operations.session s');
    expect(sessions.length).to.be.greaterThan(0);
    for (const { row } of sessions) expect(row).not.to.include(visitor.cookie('annal_session'));
  });

  const lies: readonly (readonly [string, Script, number, string])[] = [
    ['another state', { redirect: { state: 'x'.repeat(43) } }, 400, 'This sign-in can’t be completed'],
    ['no state', { redirect: { state: undefined } }, 400, 'This sign-in can’t be completed'],
    [
      'the iss of another issuer',
      { redirect: { iss: 'https://other.example.org' } },
      400,
      'You could not be signed in',
    ],
    ['no iss although it promises one', { redirect: { iss: undefined } }, 400, 'You could not be signed in'],
    ['no code', { redirect: { code: undefined } }, 400, 'You could not be signed in'],
    ['another nonce', { claims: { nonce: 'other' } }, 400, 'You could not be signed in'],
    ['no nonce', { claims: { nonce: undefined } }, 400, 'You could not be signed in'],
    [
      'a token of another issuer',
      { claims: { iss: 'https://other.example.org' } },
      400,
      'You could not be signed in',
    ],
    ['a token for another client', { claims: { aud: 'their-client' } }, 400, 'You could not be signed in'],
    [
      'a token for the second audience',
      { claims: { aud: 'other-client' } },
      400,
      'You could not be signed in',
    ],
    [
      'a token for several clients without azp',
      { claims: { aud: ['our-client', 'x'] } },
      400,
      'You could not be signed in',
    ],
    [
      'an expired token',
      { claims: { iat: 1_600_000_000, exp: 1_600_000_300 } },
      400,
      'You could not be signed in',
    ],
    ['a token without sub', { claims: { sub: undefined } }, 400, 'You could not be signed in'],
    ['a token signed with an unpublished key', { foreignKey: true }, 400, 'You could not be signed in'],
    [
      'no ID token',
      {
        token: (to) =>
          to
            .writeHead(200, { 'Content-Type': 'application/json' })
            .end('{"access_token":"a","token_type":"Bearer"}'),
      },
      400,
      'You could not be signed in',
    ],
    [
      'an error instead of a token',
      {
        token: (to) =>
          to.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}'),
      },
      400,
      'You could not be signed in',
    ],
    ['a refusal', { redirect: { code: undefined, error: 'access_denied' } }, 403, 'You are not signed in'],
    [
      'a refusal with the iss of another issuer',
      { redirect: { code: undefined, error: 'access_denied', iss: 'https://other.example.org' } },
      400,
      'You could not be signed in',
    ],
    [
      'the message that it cannot answer now',
      { redirect: { code: undefined, error: 'temporarily_unavailable' } },
      503,
      'The sign-in is not available right now',
    ],
    [
      'a failure of the token endpoint',
      { token: (to) => to.writeHead(502).end() },
      503,
      'The sign-in is not available right now',
    ],
    [
      'too long an answer',
      {
        token: (to) =>
          to.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"x":"${'a'.repeat(300_000)}"}`),
      },
      503,
      'The sign-in is not available right now',
    ],
    [
      'a redirect of the token endpoint',
      { token: (to) => to.writeHead(307, { Location: scripted.url }).end() },
      400,
      'You could not be signed in',
    ],
  ];
  for (const [what, script, status, title] of lies)
    it(`signs nobody in when it sends ${what}`, async () => {
      const visitor = new PageVisitor(service.url);
      const page = await scriptedSignIn(script, {}, visitor);
      refused(page, status, title);
      expect(page.text, 'a link to try again').to.match(
        /<a class="button" href="[^"]*\/signin\?return_to=[^"]+">/,
      );
      expect(await isSignedIn(visitor)).to.equal(false);
    });

  it('tries again from the link on the page, back to where the person was going', async () => {
    const visitor = new PageVisitor(service.url);
    const page = await scriptedSignIn(
      { token: (to) => to.writeHead(500).end() },
      { return_to: '/signin/out?lang=es' },
      visitor,
    );
    expect(page.headers.get('retry-after')).to.equal('10');
    scripted.script = {};
    const again = /<a class="button" href="([^"]+)">/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect((await visitor.open(again)).url).to.equal(`${service.url}/signin/out?lang=es`);
    expect(await isSignedIn(visitor)).to.equal(true);
  });

  it('uses no answer twice', async () => {
    const visitor = new PageVisitor(service.url);
    const { path } = await scriptedSignIn({}, {}, visitor);
    expect(await isSignedIn(visitor)).to.equal(true);
    const callback = path.find((url) => url.startsWith(callbackOf(scripted.url))) ?? '';
    const before = scripted.exchanges.length;
    refused(await visitor.open(callback), 400, 'This sign-in can’t be completed');
    expect(scripted.exchanges.length).to.equal(before);
    expect(await isSignedIn(visitor), 'the session stays').to.equal(true);
  });

  it('takes an answer only in the browser that began, and leaves it to that one', async () => {
    const victim = new PageVisitor(service.url);
    const attacker = new PageVisitor(service.url);
    const { headers } = await attacker.step(at(scripted.url));
    const answer = await attacker.step(headers.get('location') ?? '');
    const callback = answer.headers.get('location') ?? '';
    // Login CSRF: the victim would be signed in as the attacker.
    refused(await victim.open(callback), 400, 'This sign-in can’t be completed');
    await victim.step(at(scripted.url));
    refused(await victim.open(callback), 400, 'This sign-in can’t be completed');
    expect(await isSignedIn(victim)).to.equal(false);
    await attacker.open(callback);
    expect(await isSignedIn(attacker)).to.equal(true);
  });

  it('takes no answer of one issuer at the redirect URI of another (mix-up)', async () => {
    const visitor = new PageVisitor(service.url);
    const { headers } = await visitor.step(at(scripted.url));
    const answer = await visitor.step(headers.get('location') ?? '');
    const mixed = (answer.headers.get('location') ?? '').replace(
      callbackOf(scripted.url),
      callbackOf(open.url),
    );
    const [asked, exchanges] = [open.asked.length, scripted.exchanges.length];
    refused(await visitor.open(mixed), 400, 'You could not be signed in');
    expect(open.asked.length, 'no code is sent to the other issuer').to.equal(asked);
    refused(await visitor.open(answer.headers.get('location') ?? ''), 400, 'This sign-in can’t be completed');
    expect(scripted.exchanges.length).to.equal(exchanges);
    expect((await visitor.open(`/signin/callback/${'0'.repeat(16)}?state=x`)).status).to.equal(404);
    expect((await visitor.open(`/signin?issuer=${'0'.repeat(16)}`)).status).to.equal(404);
  });

  it('takes no answer after a quarter of an hour', async () => {
    const visitor = new PageVisitor(service.url);
    const { headers } = await visitor.step(at(scripted.url));
    const answer = await visitor.step(headers.get('location') ?? '');
    await service.pool.query("UPDATE operations.sign_in SET expires_at = expires_at - interval '15 minutes'");
    refused(await visitor.open(answer.headers.get('location') ?? ''), 400, 'This sign-in can’t be completed');
  });

  it('holds the issuer to a fresh proof', async () => {
    const now = Math.floor(Date.now() / 1000);
    const title = 'A fresh sign-in is needed';
    refused(await scriptedSignIn({}, { max_age: '60' }), 403, title);
    refused(await scriptedSignIn({ claims: { auth_time: now - 600 } }, { max_age: '60' }), 403, title);
    refused(await scriptedSignIn({ claims: { auth_time: now - 600 } }, { prompt: 'login' }), 403, title);
    for (const more of [{ max_age: '60' }, { prompt: 'login' }]) {
      const page = await scriptedSignIn({ claims: { auth_time: now } }, more);
      expect(page.text).to.include('You are signed in');
    }
    const visitor = await signIn(open, 'eve');
    expect(visitor.page.text).to.include('You are signed in');
    await visitor.open(at(open.url, { prompt: 'login' }));
    expect(visitor.page.url, 'the issuer asks again').to.include(open.url);
  });

  it('lets a person take another account where the issuer does not know that prompt', async () => {
    const visitor = await signIn(open, 'first');
    const refusedPage = await visitor.open(at(open.url, { prompt: 'select_account' }));
    refused(refusedPage, 403, 'You are not signed in');
    const again =
      /<a class="button" href="([^"]+)">/.exec(refusedPage.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(again).to.include('prompt=login');
    await visitor.open(again);
    await visitor.submit({ login: 'second', password: 'any' });
    // The provider asks whether to sign out of the first account, and then for consent.
    for (let form = 0; form < 3 && visitor.page.url.startsWith(open.url); form += 1) await visitor.submit();
    expect(visitor.page.text).to.include('Person second');
  });

  it('asks the same again after a failure', async () => {
    const failed = await scriptedSignIn(
      { redirect: { code: undefined, error: 'server_error' } },
      { prompt: 'login', return_to: '/signin/out?lang=de', lang: 'de' },
    );
    const again = /<a class="button" href="([^"]+)">/.exec(failed.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(Object.fromEntries(new URL(again, service.url).searchParams)).to.deep.equal({
      return_to: '/signin/out?lang=de',
      issuer: issuerKey(scripted.url),
      prompt: 'login',
      max_age: '0',
      lang: 'de',
    });
  });

  it('says that an issuer is away, and works again when it is back', async () => {
    const away = await startIssuer();
    const other = await startInProcess({}, { OIDC_ISSUERS: `${away.url} ${CLIENT}` });
    try {
      await away.register(`${other.url}/signin/callback/${issuerKey(away.url)}`);
      const visitor = new PageVisitor(other.url);
      away.fail(500);
      const page = await visitor.open('/signin?return_to=/signin/out%3Flang%3Dnb&lang=nb');
      refused(page, 503, 'Innloggingen er ikke tilgjengelig akkurat nå');
      expect(page.text).to.include(new URL(away.url).host);
      away.fail(undefined);
      const again = /<a class="button" href="([^"]+)">/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
      expect((await visitor.open(again)).url).to.include(`${away.url}/interaction/`);
    } finally {
      await other.stop();
      await away.stop();
    }
  });

  itAtFullSize('says that an issuer is away whose keys or answers do not come in time', async () => {
    const slow = await startScriptedIssuer();
    const other = await startInProcess({}, { OIDC_ISSUERS: `${slow.url} our-client` });
    try {
      const title = 'The sign-in is not available right now';
      slow.script = { withoutKeys: true };
      refused(await new PageVisitor(other.url).open('/signin'), 503, title);
      slow.script = { token: () => undefined };
      const started = performance.now();
      refused(await new PageVisitor(other.url).open('/signin'), 503, title);
      expect(performance.now() - started).to.be.within(4_900, 60_000);
    } finally {
      await other.stop();
      await slow.stop();
    }
  });

  it('reads no discovery document of another issuer, and sends nobody to an endpoint without https', async () => {
    for (const discovery of [
      { issuer: `${scripted.url}/` },
      { issuer: 'https://other.example.org' },
      { authorization_endpoint: 'javascript:alert(1)' },
      { authorization_endpoint: 'http://other.example.org/authorize' },
    ]) {
      const lying = await startScriptedIssuer();
      const other = await startInProcess({}, { OIDC_ISSUERS: `${lying.url} our-client` });
      try {
        lying.script = { discovery };
        const page = await new PageVisitor(other.url).step('/signin');
        refused(page, 503, 'The sign-in is not available right now');
      } finally {
        await other.stop();
        await lying.stop();
      }
    }
  });

  it('writes no code, state, token or secret to the log', async () => {
    const visitor = new PageVisitor(service.url);
    const { headers } = await visitor.step(at(scripted.url));
    const answer = await visitor.step(headers.get('location') ?? '');
    scripted.script = { claims: { nonce: 'other' } };
    const callback = answer.headers.get('location') ?? '';
    await visitor.open(callback);
    const { searchParams } = new URL(callback);
    await service.logged('a sign-in failed');
    const lines = service.log.join('\n');
    for (const secret of [
      searchParams.get('state'),
      searchParams.get('code'),
      'a secret of the client',
      visitor.cookie('annal_sign_in'),
    ])
      expect(lines).not.to.include(secret);
  });
});
