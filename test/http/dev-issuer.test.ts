/** The development issuer over HTTP: discovery, sign-in, authorization code with PKCE, and what its tokens give access to. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { Verifier } from '#src/identity/verify.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const REDIRECT = 'http://localhost:5173/callback?app=1';
const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

describe('the development issuer', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(service.url + path, { headers, redirect: 'manual' });

  const submit = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      redirect: 'manual',
      headers: { 'Sec-Fetch-Site': 'same-origin', Origin: 'null', ...headers },
    });

  const authorize = (changes: Record<string, string | undefined> = {}): string => {
    const whole = {
      client_id: 'annal',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: REDIRECT,
      state: 'a state & more',
      nonce: 'n-1',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      ...changes,
    };
    const given = Object.entries(whole).filter((pair): pair is [string, string] => pair[1] !== undefined);
    return `/dev/authorize?${new URLSearchParams(given)}`;
  };

  const signIn = async (email: string): Promise<string> => {
    const answer = await submit(authorize(), { email });
    expect(answer.status).to.equal(303);
    return new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
  };

  const exchange = (changes: Record<string, string>): Promise<Response> =>
    submit('/dev/token', {
      grant_type: 'authorization_code',
      client_id: 'annal',
      redirect_uri: REDIRECT,
      code_verifier: VERIFIER,
      ...changes,
    });

  const admin = (token: string): Promise<Response> =>
    get('/admin/config', { Authorization: `Bearer ${token}` });

  it('describes itself', async () => {
    const document = (await (await get('/dev/.well-known/openid-configuration')).json()) as Record<
      string,
      string
    >;
    expect(document.issuer).to.equal(`${service.url}/dev`);
    expect(document.jwks_uri).to.equal(`${service.url}/dev/jwks`);
    const keys = (await (await get('/dev/jwks')).json()) as { keys: Record<string, string>[] };
    expect(keys.keys.map((key) => Object.keys(key).sort())).to.deep.equal([
      ['alg', 'e', 'kid', 'kty', 'n', 'use'],
    ]);
  });

  it('signs somebody in by authorization code and PKCE, with a token that any client can check', async () => {
    const page = await (await get(authorize())).text();
    expect(page).to.include('You continue to <strong>localhost:5173</strong>');
    const answer = await submit(authorize(), { email: ' Ada@Example.org ' });
    const target = new URL(answer.headers.get('location') ?? '');
    expect(target.origin + target.pathname).to.equal('http://localhost:5173/callback');
    const { app, state, iss, code = '' } = Object.fromEntries(target.searchParams);
    expect({ app, state, iss }).to.deep.equal({
      app: '1',
      state: 'a state & more',
      iss: `${service.url}/dev`,
    });

    const exchanged = await exchange({ code });
    expect(exchanged.headers.get('cache-control')).to.equal('no-store');
    const tokens = (await exchanged.json()) as { id_token: string; token_type: string; expires_in: number };
    expect([tokens.token_type, tokens.expires_in]).to.deep.equal(['Bearer', 3600]);
    const keys = createRemoteJWKSet(new URL(`${service.url}/dev/jwks`));
    const { payload } = await jwtVerify(tokens.id_token, keys, {
      issuer: `${service.url}/dev`,
      audience: 'annal',
    });
    expect(payload.email).to.equal('ada@example.org');
    expect(payload.nonce).to.equal('n-1');
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).to.equal(3600);
    expect((await admin(tokens.id_token)).status).to.equal(200);
  });

  it('is an issuer like any other to another service', async () => {
    const { id_token: token } = (await (
      await exchange({ code: await signIn('developer@example.org') })
    ).json()) as { id_token: string };
    const elsewhere = new Verifier({ issuers: [{ issuer: `${service.url}/dev`, audiences: ['annal'] }] });
    expect(await elsewhere.verify(token)).to.deep.equal({
      issuer: `${service.url}/dev`,
      subject: decodeJwt(token).sub,
      email: 'developer@example.org',
      emailVerified: true,
      name: 'Dana Developer',
    });
  });

  it('gives the same person the same subject, and others another', async () => {
    const subjects: (string | undefined)[] = [];
    for (const email of ['ada@example.org', 'ADA@example.org', 'eve@example.org']) {
      const answer = await exchange({ code: await signIn(email) });
      subjects.push(decodeJwt(((await answer.json()) as { id_token: string }).id_token).sub);
    }
    expect(subjects[0]).to.equal(subjects[1]);
    expect(subjects[0]).not.to.equal(subjects[2]);
  });

  it('takes a code once, from who can prove to have asked for it', async () => {
    const wrong: Record<string, string>[] = [
      { code_verifier: randomBytes(32).toString('base64url') },
      { code_verifier: CHALLENGE },
      { redirect_uri: 'http://localhost:5173/callback' },
      { code: 'invented' },
    ];
    for (const changes of wrong) {
      const answer = await exchange({ code: await signIn('ada@example.org'), ...changes });
      expect(answer.status).to.equal(400);
      expect(await answer.json()).to.include({ error: 'invalid_grant' });
    }
    const code = await signIn('ada@example.org');
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange({ code })));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
    for (const [changes, error] of [
      [{ code, grant_type: 'password' }, 'unsupported_grant_type'],
      [{ code, client_id: 'another' }, 'invalid_client'],
      [{}, 'invalid_request'],
    ] as const) {
      expect(await (await exchange(changes)).json()).to.include({ error });
    }
  });

  it('does not take a code that is older than a minute', async () => {
    const code = await signIn('ada@example.org');
    await service.pool.query(
      `UPDATE operations.dev_issuer_codes SET expires_at = expires_at - interval '61 seconds'`,
    );
    expect(await (await exchange({ code })).json()).to.include({ error: 'invalid_grant' });
  });

  it('tells a client what is wrong with its request, and nobody else', async () => {
    const told: [Record<string, string | undefined>, string][] = [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ scope: 'email' }, 'invalid_scope'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ code_challenge_method: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ state: 'x'.repeat(513) }, 'invalid_request'],
      [{ request: 'a.b.c' }, 'request_not_supported'],
      [{ prompt: 'none' }, 'login_required'],
    ];
    for (const [changes, error] of told) {
      const answer = await get(authorize(changes));
      const target = new URL(answer.headers.get('location') ?? 'http://none');
      expect(target.searchParams.get('error'), JSON.stringify(changes)).to.equal(error);
      expect(target.origin).to.equal('http://localhost:5173');
    }
    for (const changes of [
      { client_id: 'another' },
      { redirect_uri: undefined },
      { redirect_uri: 'https://evil.example.org/' },
      { redirect_uri: 'http://localhost.evil.example.org/' },
      { redirect_uri: 'http://localhost@evil.example.org/' },
      { redirect_uri: 'http://localhost/#here' },
      { redirect_uri: 'javascript:alert(1)' },
    ]) {
      for (const answer of [
        await get(authorize(changes)),
        await submit(authorize(changes), { email: 'a@b.org' }),
      ]) {
        expect(answer.status, JSON.stringify(changes)).to.equal(400);
        expect(answer.headers.get('location')).to.equal(null);
      }
    }
    const twice = await get(`${authorize()}&state=2`);
    expect(twice.status).to.equal(400);
  });

  it('signs nobody in for another site, and lets none read its pages', async () => {
    const foreign: Record<string, string>[] = [
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': '', Origin: 'https://evil.example.org' },
      { 'Sec-Fetch-Site': '', Origin: 'null' },
    ];
    for (const headers of foreign) {
      for (const path of ['/dev', authorize()]) {
        const answer = await submit(path, { email: 'ada@example.org' }, headers);
        expect(answer.status, JSON.stringify(headers)).to.equal(403);
        expect(await answer.text()).not.to.include('eyJ');
      }
    }
    const read = await get('/dev', { Origin: 'https://evil.example.org' });
    expect(read.status).to.equal(200);
    expect(read.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('is not there where issuers are configured, and in production', async () => {
    for (const settings of [{ OIDC_ISSUERS: 'https://login.example.org annal' }, { MODE: 'production' }]) {
      const other = await startInProcess({}, settings);
      try {
        for (const path of ['/dev', '/dev/jwks', '/dev/.well-known/openid-configuration', '/dev/token']) {
          expect((await fetch(other.url + path)).status, path).to.equal(404);
        }
        const token = (
          (await (await exchange({ code: await signIn('ada@example.org') })).json()) as { id_token: string }
        ).id_token;
        const refused = await fetch(`${other.url}/admin/config`, {
          headers: { Authorization: `Bearer ${token}` },
        });
        expect(refused.status).to.equal(401);
        expect(refused.headers.get('www-authenticate')).to.match(/the issuer in iss is not trusted/);
      } finally {
        await other.stop();
      }
    }
  });
});

describe('the development issuer and other machines', () => {
  const paths = ['/dev', '/dev/jwks', '/dev/.well-known/openid-configuration'];
  const POST = { method: 'POST', body: new URLSearchParams({ email: 'developer@example.org' }) };
  const PROXIED: Record<string, string>[] = [
    { 'X-Forwarded-For': '203.0.113.9' },
    { 'X-Forwarded-Host': 'records.example.org' },
    { Forwarded: 'for=203.0.113.9' },
    { Via: '1.1 proxy' },
    { 'X-Real-IP': '203.0.113.9' },
  ];

  it('does not run where they can reach it, and the start says so', async () => {
    for (const settings of [{ HOST: '0.0.0.0' }, { BASE_URL: 'https://records.example.org' }]) {
      const service = await startInProcess({}, settings);
      try {
        expect((await fetch(`${service.url}/dev`, POST)).status).to.equal(404);
        for (const path of paths) expect((await fetch(service.url + path)).status, path).to.equal(404);
        const { rows } = await service.pool.query('select issuer from operations.dev_issuer');
        expect(rows).to.deep.equal([{ issuer: null }]);
        const [name = ''] = Object.keys(settings);
        expect(await service.logged('DEV_ISSUER=allow')).to.include(name);
      } finally {
        await service.stop();
      }
    }
  });

  it('refuses what a proxy on this machine passes on', async () => {
    const service = await startInProcess();
    try {
      for (const headers of PROXIED) {
        const signedIn = await fetch(`${service.url}/dev`, { ...POST, headers });
        expect(signedIn.status, JSON.stringify(headers)).to.equal(403);
        expect(await signedIn.text())
          .to.include('DEV_ISSUER=allow')
          .and.not.include('eyJ');
        for (const path of [...paths, '/dev/authorize'])
          expect((await fetch(service.url + path, { headers })).status, path).to.equal(403);
        const exchange = { method: 'POST', headers, body: new URLSearchParams() };
        expect((await fetch(`${service.url}/dev/token`, exchange)).status).to.equal(403);
      }
      // As sent by a proxy with default settings.
      const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
      socket.write('GET /dev HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      expect(answer.toString()).to.match(/^HTTP\/1\.1 403 /);
      socket.destroy();
      expect((await fetch(`${service.url}/dev`, POST)).status).to.equal(200);
    } finally {
      await service.stop();
    }
  });

  it('serves them where that is allowed, with a warning', async () => {
    const service = await startInProcess({}, { HOST: '0.0.0.0', DEV_ISSUER: 'allow' });
    try {
      for (const headers of PROXIED)
        expect((await fetch(`${service.url}/dev`, { ...POST, headers })).status).to.equal(200);
      await service.logged('can sign in as any person');
    } finally {
      await service.stop();
    }
  });

  it('is none in production, where the start says what does not work without an issuer', async () => {
    const service = await startInProcess({}, { MODE: 'production', DEV_ISSUER: 'allow' });
    try {
      expect((await fetch(`${service.url}/dev`, POST)).status).to.equal(404);
      expect(await service.logged('MODE=production without OIDC_ISSUERS')).to.match(
        /MODE=production without OIDC_ISSUERS: nobody can sign in.*API keys/,
      );
    } finally {
      await service.stop();
    }
  });
});

describe('credentials at the wrong interface', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  it('are told where they belong', async () => {
    const page = await fetch(`${service.url}/dev`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'ada@example.org' }),
    });
    const token = /eyJ[\w.-]+/.exec(await page.text())?.[0] ?? '';
    const fhir = await service.fhir('/Patient', { key: token });
    expect(fhir.status).to.equal(403);
    expect(fhir.text).to.include('ID tokens are for /admin');
    const admin = await service.fhir(`${service.url}/admin/config`);
    expect(admin.status).to.equal(403);
    expect(admin.text).to.include('API keys are for /fhir/R4 and /v1');
    const unknown = await service.fhir('/Patient', { key: 'sk_test_unknown' });
    expect(unknown.status).to.equal(401);
    expect(unknown.text).to.include('make an API key with POST /admin/projects/{project_id}/keys');
    const none = await service.fhir(`${service.url}/admin/config`, { key: null });
    expect(none.status).to.equal(401);
    expect(none.headers.get('www-authenticate')).to.match(/^Bearer realm="annal"/);
    expect(unknown.headers.get('www-authenticate')).to.match(/^Bearer realm="annal", error="invalid_token"/);
    // A new credential of the same kind wouldn't help.
    for (const { headers } of [fhir, admin]) expect(headers.get('www-authenticate')).to.equal(null);
    const good = await service.fhir(`${service.url}/admin/config`, { key: token });
    expect(good.status, String(good)).to.equal(200);
  });
});
