/** Signing in on the pages through the development issuer, sessions, signing out, and the pages' headers for browsers. */
import { expect } from 'chai';
import { pino } from 'pino';
import { startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import { Cookie } from '#src/http/signin/cookie.ts';
import { Sessions } from '#src/signin/sessions.ts';
import { sweepSignIns } from '#src/signin/sweep.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { freePort } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

describe('the sign-in', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const signedIn = async (email = 'ada@example.org', visitor = new PageVisitor(service.url)) => {
    await visitor.open('/signin');
    const page = await visitor.submit({ email });
    expect(page.url).to.equal(`${service.url}/signin/out`);
    return visitor;
  };

  it('signs a person in and back to the page', async () => {
    const visitor = new PageVisitor(service.url);
    const choice = await visitor.open('/signin?return_to=/signin/out%3Flang%3Dde&login_hint=eva@example.org');
    expect(choice.url).to.match(/\/dev\/authorize\?/);
    const asked = new URL(choice.url).searchParams;
    expect(asked.get('code_challenge_method')).to.equal('S256');
    expect(asked.get('redirect_uri')).to.match(/\/signin\/callback\/[0-9a-f]{16}$/);
    expect(asked.get('nonce')).to.match(/^[\w-]{43}$/);
    expect(asked.get('client_id')).to.equal('annal');
    expect(asked.get('login_hint')).to.equal('eva@example.org');
    const page = await visitor.submit({ email: 'eva@example.org' });
    expect(page.url).to.equal(`${service.url}/signin/out?lang=de`);
    expect(page.text).to.include('eva@example.org');
  });

  it('signs a person out, in the browser and on the server', async () => {
    const visitor = await signedIn();
    const secret = visitor.cookie('annal_session') ?? '';
    const page = await visitor.submit();
    expect(page.path.at(-1)).to.match(/\/signin\/out\?lang=en$/);
    expect(page.text).to.include('You are signed out');
    expect(visitor.cookie('annal_session')).to.equal(undefined);
    visitor.plant('annal_session', secret);
    expect((await visitor.open('/signin/out')).text).to.include('You are signed out');
  });

  it('gives a new session id at every sign-in, and ends the one before', async () => {
    const visitor = new PageVisitor(service.url);
    // Session fixation: an attacker put this id into the browser.
    const planted = 'A'.repeat(43);
    visitor.plant('annal_session', planted);
    await signedIn('ada@example.org', visitor);
    const first = visitor.cookie('annal_session');
    expect(first)
      .to.match(/^[\w-]{43}$/)
      .and.not.equal(planted);
    await signedIn('ada@example.org', visitor);
    expect(visitor.cookie('annal_session')).not.to.equal(first);
    for (const secret of [first ?? '', planted]) {
      visitor.plant('annal_session', secret);
      expect((await visitor.open('/signin/out')).text).to.include('You are signed out');
    }
  });

  it('replaces a cookie in the browser that it did not set', async () => {
    for (const value of ['', 'x', 'A'.repeat(5_000), 'a%20b']) {
      const visitor = new PageVisitor(service.url);
      visitor.plant('annal_sign_in', value);
      visitor.plant('annal_session', value);
      await signedIn('ada@example.org', visitor);
    }
  });

  it('notes when the earlier session of another person ended', async () => {
    const visitor = await signedIn('earlier@example.org');
    await service.pool.query("UPDATE operations.person SET session_ended_at = now() - interval '11 hours'");
    await signedIn('later@example.org', visitor);
    const { rows } = await service.pool.query(
      "SELECT email FROM operations.person WHERE session_ended_at > now() - interval '1 hour' ORDER BY email",
    );
    expect(rows).to.deep.equal([{ email: 'earlier@example.org' }, { email: 'later@example.org' }]);
  });

  it('sets cookies that scripts and other sites cannot use', async () => {
    const visitor = await signedIn();
    expect(visitor.cookieLine('annal_session')).to.match(
      /^annal_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(visitor.cookieLine('annal_sign_in')).to.match(
      /^annal_sign_in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/,
    );
  });

  it('replaces a secret that it cannot have drawn', async () => {
    for (const planted of ['', 'bad', 'x'.repeat(44)]) {
      const visitor = new PageVisitor(service.url);
      visitor.plant('annal_sign_in', planted);
      await signedIn('planted@example.org', visitor);
      expect(visitor.cookie('annal_sign_in')).to.match(/^[\w-]{43}$/);
      expect((await visitor.open('/signin/out')).text).to.include('You are signed in');
    }
  });

  it('ends sessions after 30 idle minutes and after 12 hours, by the clock of the database', async () => {
    const live = async (change: string): Promise<boolean> => {
      const visitor = await signedIn(`${change.length}@example.org`);
      await service.pool.query(
        `UPDATE operations.session SET ${change} WHERE subject = (SELECT subject
        FROM operations.person WHERE email = $1)`,
        [`${change.length}@example.org`],
      );
      return (await visitor.open('/signin/out')).text.includes('You are signed in');
    };
    expect(await live("used_at = now() - interval '29 minutes'")).to.equal(true);
    expect(await live("used_at = now() - interval '30 minutes 1 second'")).to.equal(false);
    expect(await live("started_at = now() - interval '11 hours 59 minutes'")).to.equal(true);
    expect(await live("started_at = now() - interval '12 hours 1 second'")).to.equal(false);
  });

  it('notes the use of a session at most once a minute', async () => {
    const visitor = await signedIn('often@example.org');
    const row = async (): Promise<unknown> => {
      const { rows } = await service.pool.query(
        "SELECT s.xmin::text AS version, s.used_at > now() - interval '10 seconds' AS fresh FROM operations.session s JOIN operations.person p USING (issuer, subject) WHERE p.email = 'often@example.org'",
      );
      return rows[0];
    };
    const before = await row();
    for (let more = 0; more < 3; more += 1) await visitor.open('/signin/out');
    expect(await row()).to.deep.equal(before);
    await service.pool.query("UPDATE operations.session SET used_at = now() - interval '61 seconds'");
    await visitor.open('/signin/out');
    expect(await row()).to.include({ fresh: true });
  });

  it('opens no API', async () => {
    const visitor = await signedIn('developer@example.org');
    const Cookie = `annal_session=${visitor.cookie('annal_session')}`;
    for (const path of [
      '/fhir/R4/Patient',
      '/v1/patients',
      '/admin/organizations',
      '/me/patients?environment=sandbox',
      '/v1/webhooks',
    ]) {
      expect((await fetch(service.url + path, { headers: { Cookie } })).status, path).to.equal(401);
      const bearer = { Authorization: `Bearer ${visitor.cookie('annal_session')}` };
      expect((await fetch(service.url + path, { headers: bearer })).status, path).to.equal(401);
    }
  });

  it('holds no session of an issuer that is no longer configured, and opens none by its hash', async () => {
    const visitor = await signedIn();
    const secret = visitor.cookie('annal_session') ?? '';
    const issuer = `${service.url}/dev`;
    const found = await new Sessions(service.pool, [issuer]).find(secret);
    expect(found?.person.issuer).to.equal(issuer);
    expect(found?.authTime).to.be.closeTo(Date.now() / 1000, 60);
    expect(await new Sessions(service.pool, ['https://other.example.org']).find(secret)).to.equal(undefined);
    for (const other of [found?.id ?? '', '', 'x', secret.slice(1), `${secret}=`])
      expect(await new Sessions(service.pool, [issuer]).find(other)).to.equal(undefined);
  });

  it('shows a page for a form that cannot be read', async () => {
    const visitor = await signedIn();
    const answer = await fetch(`${service.url}/signin/out`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Sec-Fetch-Site': 'same-origin',
        Cookie: `annal_session=${visitor.cookie('annal_session')}`,
      },
      body: '{}',
    });
    expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([
      415,
      'text/html; charset=utf-8',
    ]);
  });

  it('holds and ends sessions on every instance', async () => {
    const port = await freePort();
    const other = await startApp({
      config: loadConfig({
        PORT: String(port),
        BASE_URL: service.url,
        DATA_DIR: await temporaryFolder(),
        EVENTSTORE_URL,
        RATE_LIMIT_PER_MINUTE: '0',
        SANDBOX_PATIENTS: '0',
      }),
      databaseUrl: service.databaseUrl,
      log: pino({ level: 'silent' }),
    });
    try {
      await other.listen();
      const there = (url: string): string => url.replace(service.url, `http://127.0.0.1:${port}`);
      // The sign-in begins on one instance and is completed on the other, which also exchanges the code.
      const begun = new PageVisitor(service.url);
      await begun.open('/signin');
      const moved = new PageVisitor(service.url, there);
      moved.plant('annal_sign_in', begun.cookie('annal_sign_in') ?? '');
      await moved.open(begun.page.url);
      expect((await moved.submit({ email: 'two@example.org' })).text).to.include('You are signed in');
      const here = new PageVisitor(service.url);
      here.plant('annal_session', moved.cookie('annal_session') ?? '');
      expect((await here.open('/signin/out')).text).to.include('You are signed in');
      await here.submit();
      expect((await moved.open('/signin/out')).text).to.include('You are signed out');
    } finally {
      await other.close();
    }
  });

  it('takes no form of another site to sign a person out', async () => {
    const visitor = await signedIn('stays@example.org');
    for (const headers of [
      { 'Sec-Fetch-Site': 'cross-site' },
      { Origin: 'https://evil.example.org' },
      { Origin: 'null' },
      {},
    ]) {
      await visitor.open('/signin/out');
      expect((await visitor.submit({}, headers as Record<string, string>)).status).to.equal(403);
    }
    await visitor.open('/signin/out');
    const forged = await visitor.submit({ form_token: 'x'.repeat(43) });
    expect(forged.status).to.equal(403);
    expect(forged.text).to.include('The form could not be accepted');
    expect((await visitor.open('/signin/out')).text).to.include('You are signed in');
    await visitor.submit({}, { Origin: service.url });
    expect((await visitor.open('/signin/out')).text).to.include('You are signed out');
  });

  it('returns to paths of its own only', async () => {
    const elsewhere = [
      'https://evil.example.org/',
      '//evil.example.org',
      '/\\evil.example.org',
      '/\t/evil.example.org',
      '/%0d%0aLocation:x\r\n',
      '/a/../../x',
      '/%2e%2e/x',
      'javascript:alert(1)',
      'evil',
      '',
      `/${'x'.repeat(2_001)}`,
      '/ä',
    ];
    for (const returnTo of elsewhere) {
      const visitor = new PageVisitor(service.url);
      await visitor.open(`/signin?return_to=${encodeURIComponent(returnTo)}`);
      const page = await visitor.submit({ email: 'ada@example.org' });
      expect(page.url, returnTo).to.equal(`${service.url}/signin/out`);
    }
  });

  it('leads to the dashboard itself from an address below it that no sign-in can return to', async () => {
    for (const path of ['/app/a//b', '/app//elsewhere.example', `/app/${'x'.repeat(1_600)}`]) {
      const { status, headers } = await fetch(service.url + path, { redirect: 'manual' });
      const { pathname, searchParams } = new URL(headers.get('location') ?? '', service.url);
      expect([status, pathname, searchParams.get('return_to')], path).to.deep.equal([303, '/signin', '/app']);
    }
  });

  it('ignores what it cannot use in a link', async () => {
    const first = await new PageVisitor(service.url).step(
      `/signin?prompt=none&max_age=-1&login_hint=${'x'.repeat(300)}&issuer=x&issuer=y&lang=xx`,
    );
    const asked = new URL(first.headers.get('location') ?? '').searchParams;
    for (const name of ['prompt', 'max_age', 'login_hint']) expect(asked.has(name), name).to.equal(false);
    expect(asked.get('ui_locales')).to.equal('en');
  });

  it('forgets unanswered sign-ins, ended sessions, and persons after 30 days', async () => {
    await signedIn('gone@example.org');
    await signedIn('linked@example.org');
    await signedIn('unlinked@example.org');
    await signedIn('recent@example.org');
    await new PageVisitor(service.url).step('/signin');
    await service.pool.query('UPDATE operations.sign_in SET expires_at = now()');
    await service.pool.query(
      "UPDATE operations.session SET started_at = now() - interval '40 days', used_at = now() - interval '40 days'",
    );
    await service.pool.query(
      `UPDATE operations.person SET session_ended_at = now() - interval '41 days' WHERE email <> 'recent@example.org'`,
    );
    const link = `INSERT INTO consents.links (link_id, record, owner_project, environment, issuer, subject, relationship,
        via, linked_at, unlinked_at)
      SELECT 'link_' || email, gen_random_uuid(), 'p', 'sandbox', issuer, subject, 'self', 'own', 0, $2
        FROM operations.person WHERE email = $1`;
    await service.pool.query(link, ['linked@example.org', null]);
    await service.pool.query(link, ['unlinked@example.org', (Date.now() - 29 * 86_400_000) * 1000]);
    await sweepSignIns(service.pool);
    const { rows } = await service.pool.query('SELECT email FROM operations.person ORDER BY email');
    const left = rows.map(({ email }) => String(email));
    expect(left).to.include.members(['linked@example.org', 'recent@example.org', 'unlinked@example.org']);
    expect(left).not.to.include('gone@example.org');
    for (const table of ['sign_in', 'session'])
      expect((await service.pool.query(`SELECT FROM operations.${table}`)).rowCount, table).to.equal(0);
    await service.pool.query('UPDATE consents.links SET unlinked_at = 0');
    await sweepSignIns(service.pool);
    const after = await service.pool.query<{ email: string }>('SELECT email FROM operations.person');
    expect(after.rows.map(({ email }) => email)).to.deep.equal(['recent@example.org']);
    await service.pool.query('DELETE FROM consents.links');
  });

  it('sends no CORS headers from any page, to a script of another origin', async () => {
    const headers = { Origin: 'https://evil.example.org' };
    const preflight = { ...headers, 'Access-Control-Request-Method': 'POST' };
    const paths = [
      '/signin',
      '/SignIn/',
      '/signin/out',
      `/signin/callback/${'0'.repeat(16)}`,
      '/signin/none',
      '/invitations',
      `/invitations/${'0'.repeat(16)}`,
      '/oauth/authorize',
      '/oauth/authorize/none',
      '/dev',
      '/dev/authorize',
      '/docs',
      '/docs/errors',
    ];
    for (const path of paths)
      for (const [method, sent] of [
        ['GET', headers],
        ['POST', headers],
        ['OPTIONS', preflight],
      ] as const) {
        if (method !== 'GET' && path.startsWith('/docs')) continue;
        const answer = await fetch(service.url + path, { method, headers: sent, redirect: 'manual' });
        const cors = [...answer.headers.keys()].filter((name) => name.startsWith('access-control-'));
        expect(cors, `${method} ${path}`).to.deep.equal([]);
      }
    for (const path of ['/dev/jwks', '/fhir/R4/metadata', '/v1/patients', '/signing'])
      expect(
        (await fetch(service.url + path, { headers })).headers.get('access-control-allow-origin'),
        path,
      ).to.equal('*');
  });

  it('protects its pages', async () => {
    const visitor = await signedIn();
    const { headers } = await visitor.open('/signin/out');
    expect(Object.fromEntries(headers)).to.include({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin',
    });
    expect(headers.get('content-security-policy')).to.match(
      /^default-src 'none'; style-src 'sha256-[^ ]+'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
  });
});

describe('the sign-in behind a proxy', () => {
  let service: InProcess;
  let baseUrl: string;

  before(async () => {
    // Nothing listens at that URL, so the development issuer must be called within the process.
    baseUrl = `http://localhost:${await freePort()}/records`;
    service = await startInProcess({}, { BASE_URL: baseUrl });
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  it('needs no way from inside to BASE_URL, and keeps to its path', async () => {
    const visitor = new PageVisitor(baseUrl, (url) => url.replace(baseUrl, service.url));
    await visitor.open(`${baseUrl}/signin?return_to=/signin/out%3Flang%3Den`);
    const page = await visitor.submit({ email: 'ada@example.org' });
    expect(page.url).to.equal(`${baseUrl}/signin/out?lang=en`);
    expect(page.text).to.include('You are signed in');
    expect(visitor.cookieLine('annal_session')).to.include('; Path=/records; ');
    expect((await visitor.submit()).url).to.equal(`${baseUrl}/signin/out?lang=en`);
    expect(visitor.page.text).to.include('You are signed out');
  });
});

describe('cookies of the pages', () => {
  const made = (name: string, baseUrl: string, below?: string): [string, string] => {
    const lines: string[] = [];
    const cookie = new Cookie(name, baseUrl, below);
    cookie.set({ append: (_, line) => void lines.push(String(line)) }, 'v');
    return [cookie.name, lines[0] ?? ''];
  };

  it('have the strictest prefix that BASE_URL allows', () => {
    expect(made('s', 'https://records.example.org')).to.deep.equal([
      '__Host-s',
      '__Host-s=v; Path=/; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(made('s', 'https://example.org/records/')).to.deep.equal([
      '__Secure-s',
      '__Secure-s=v; Path=/records; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(made('s', 'https://example.org', '/invitations')).to.deep.equal([
      '__Secure-s',
      '__Secure-s=v; Path=/invitations; HttpOnly; SameSite=Lax; Secure',
    ]);
    expect(made('s', 'http://localhost:3000')).to.deep.equal(['s', 's=v; Path=/; HttpOnly; SameSite=Lax']);
  });
});
