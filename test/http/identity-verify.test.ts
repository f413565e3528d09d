/** ID tokens, verified against a real OpenID Connect provider over HTTP. */
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { exportSPKI, importJWK, type JWTPayload } from 'jose';
import { Verifier, type VerifierDeps } from '#src/identity/verify.ts';
import { askNameServers } from '#src/shared/customer-hosts.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { startNameServer } from '#test/support/name-server.ts';
import { CLIENT, startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';

const MINUTE = 60_000;

describe('ID tokens of an OpenID Connect provider', () => {
  let issuer: TestIssuer;
  let clock: number;
  let verifier: Verifier;

  const verifierOf = (deps: Partial<VerifierDeps> = {}): Verifier =>
    new Verifier({
      issuers: [{ issuer: issuer.url, audiences: [CLIENT] }],
      now: () => clock,
      ...deps,
    });

  /** Returns valid claims with the given changes; undefined removes a claim. */
  const claims = (changes: Record<string, unknown> = {}): JWTPayload => {
    const seconds = Math.floor(clock / 1000);
    const whole = { iss: issuer.url, aud: CLIENT, sub: 'ada', iat: seconds, exp: seconds + 3600, ...changes };
    return Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
  };

  const refusalOf = async (token: string, by = verifier): Promise<Refusal> => {
    try {
      await by.verify(token);
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
    throw new Error('the token was taken');
  };

  const expectRefused = async (token: string, reason: RegExp): Promise<void> => {
    const refusal = await refusalOf(token);
    expect(refusal.status, refusal.message).to.equal(401);
    expect(refusal.message).to.match(reason);
    const challenge = refusal.headers['WWW-Authenticate'] ?? '';
    expect(challenge).to.match(/^Bearer realm="annal", error="invalid_token", error_description="[^"\\]+"$/);
    expect(challenge + refusal.message).not.to.include(token.slice(0, 20));
  };

  before(async () => {
    issuer = await startIssuer();
  });

  after(() => issuer.stop());

  beforeEach(() => {
    clock = Date.now();
    verifier = verifierOf();
  });

  it('are taken after a sign-in by authorization code and PKCE', async () => {
    const token = await issuer.signIn('ada');
    expect(await verifier.verify(token)).to.deep.equal({
      issuer: issuer.url,
      subject: 'ada',
      email: 'ada@example.org',
      emailVerified: true,
      name: 'Person ada',
    });
  });

  it('ask the provider for its keys once, also when many come together', async () => {
    const token = await issuer.signIn('ada');
    const before = issuer.asked.length;
    await Promise.all(Array.from({ length: 20 }, () => verifier.verify(token)));
    expect(issuer.asked.slice(before)).to.deep.equal(['/.well-known/openid-configuration', '/jwks']);
  });

  it('are refused by their claims', async () => {
    const seconds = Math.floor(clock / 1000);
    const wrong: [Record<string, unknown>, RegExp][] = [
      [{ aud: 'another' }, /^aud must contain/],
      [{ aud: undefined }, /no aud/],
      [{ aud: [CLIENT, 'another'] }, /azp must name/],
      [{ aud: [CLIENT, 'another'], azp: 'another' }, /^aud must contain/],
      [{ aud: ['another', 'third'], azp: CLIENT }, /azp must name/],
      [{ iss: 'https://other.example.org' }, /^the issuer in iss is not trusted; trusted issuers: http/],
      [{ iss: `${issuer.url}/` }, /^the issuer in iss/],
      [{ iss: undefined }, /no iss/],
      [{ iss: 7 }, /no iss/],
      [{ exp: seconds - 61 }, /expired at \d{4}-/],
      [{ exp: undefined }, /no exp/],
      [{ exp: 'tomorrow' }, /^exp must be/],
      [{ nbf: seconds + 61 }, /not valid yet/],
      [{ iat: seconds + 62 }, /^iat must/],
      [{ iat: undefined }, /no iat/],
      [{ sub: undefined }, /no sub/],
      [{ sub: '' }, /^sub must/],
      [{ sub: 'x'.repeat(256) }, /^sub must/],
      [{ sub: 'a\u0000b' }, /^sub must/],
      [{ sub: 'a\ud800' }, /^sub must/],
      [{ sub: 7 }, /^sub must/],
    ];
    for (const [changes, reason] of wrong) await expectRefused(await issuer.sign(claims(changes)), reason);
  });

  it('may be a minute off, and name several audiences with azp', async () => {
    const seconds = Math.floor(clock / 1000);
    for (const changes of [
      { exp: seconds - 58 },
      { nbf: seconds + 58 },
      { iat: seconds + 58 },
      { aud: ['another', CLIENT], azp: CLIENT },
    ]) {
      expect((await verifier.verify(await issuer.sign(claims(changes)))).subject).to.equal('ada');
    }
  });

  it('keep a person whose optional claims are not as they should be', async () => {
    const odd = { email: 'no address', email_verified: true, name: 'a\u0007b' };
    expect(await verifier.verify(await issuer.sign(claims(odd)))).to.deep.equal({
      issuer: issuer.url,
      subject: 'ada',
      emailVerified: false,
    });
    const text = await issuer.sign(claims({ email: 'ada@example.org', email_verified: 'true' }));
    expect((await verifier.verify(text)).emailVerified).to.equal(true);
  });

  it('are refused unsigned, with an HMAC of the public key, with a false signature, and when they are none', async () => {
    const [, payload = '', signature = ''] = (await issuer.sign(claims())).split('.');
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const publicKey = await importJWK({ ...issuer.publicKey() }, 'RS256', { extractable: true });
    const secret = await exportSPKI(publicKey as CryptoKey);
    const { kid } = issuer.publicKey();
    const hmacInput = `${part({ alg: 'HS256', kid })}.${payload}`;
    const hmac = createHmac('sha256', secret).update(hmacInput).digest('base64url');
    await expectRefused(`${part({ alg: 'none' })}.${payload}.`, /^alg of the ID token must be one of RS256/);
    await expectRefused(`${part({ alg: 'none', kid })}.${payload}.${signature}`, /^alg/);
    await expectRefused(`${hmacInput}.${hmac}`, /^alg/);
    await expectRefused(
      `${part({ alg: 'RS256', kid })}.${part(claims({ sub: 'eve' }))}.${signature}`,
      /signature/,
    );
    await expectRefused(
      `${part({ alg: 'RS256', kid, crit: ['x'], x: 1 })}.${payload}.${signature}`,
      /unsupported feature|not a signed/,
    );
    await expectRefused(await issuer.sign(claims(), { typ: 'at+jwt' }), /not an ID token/);
    for (const none of ['a.b.c', 'words', `${payload}.${payload}`, `eyJhbGciOiJSUzI1NiJ9.W10.x`]) {
      await expectRefused(none, /not an ID token|no iss|no aud/);
    }
    const long = await issuer.sign(claims({ filling: 'x'.repeat(12_000) }));
    await expectRefused(long, /at most 12000 characters/);
  });

  it('follow a rotation of keys: a new one works at once, a removed one for ten minutes at most', async () => {
    const old = await issuer.sign(claims());
    await verifier.verify(old);
    clock += 11_000;
    await issuer.rotate(false);
    const next = await issuer.sign(claims());
    const before = issuer.asked.length;
    expect((await verifier.verify(next)).subject).to.equal('ada');
    expect(issuer.asked.length - before).to.equal(2);
    await expectRefused(old, /does not publish/);

    await issuer.rotate(false);
    clock += 9 * MINUTE;
    expect((await verifier.verify(next)).subject).to.equal('ada');
    clock += MINUTE;
    await expectRefused(next, /does not publish/);
  });

  it('of invented keys ask the provider no more than every ten seconds', async () => {
    await verifier.verify(await issuer.sign(claims()));
    const before = issuer.asked.length;
    for (let i = 0; i < 30; i += 1) {
      clock += 1_000;
      const invented = await issuer.sign(claims(), { kid: `invented-${i}` });
      await expectRefused(invented, /does not publish/);
    }
    expect(issuer.asked.length - before).to.be.within(4, 6);
  });

  it('of known keys work on while the provider is away; others answer 503 with Retry-After', async () => {
    const away: string[] = [];
    verifier = verifierOf({ onAway: (name) => away.push(name) });
    const known = await issuer.sign(claims());
    await verifier.verify(known);
    issuer.fail(500);
    try {
      clock += 11 * MINUTE;
      expect((await verifier.verify(known)).subject).to.equal('ada');
      const refusal = await refusalOf(await issuer.sign(claims(), { kid: 'new' }));
      expect([refusal.status, refusal.headers['Retry-After']]).to.deep.equal([503, '10']);
      expect(away).to.deep.equal([issuer.url]);
      const empty = await refusalOf(known, verifierOf());
      expect(empty.status).to.equal(503);
      // A day later, nothing confirms the key any longer.
      clock += 25 * 60 * MINUTE;
      const late = await issuer.sign(claims());
      expect((await refusalOf(late)).status).to.equal(503);
      issuer.fail(undefined);
      clock += 11_000;
      expect((await verifier.verify(late)).subject).to.equal('ada');
    } finally {
      issuer.fail(undefined);
    }
  });

  it('prove to an organization only what it trusts by its own settings', async () => {
    const ssoClientsOf = async (name: string) =>
      name === issuer.url
        ? [
            { organization: 'org_a', clientId: 'client-a' },
            { organization: 'org_b', clientId: 'client-b' },
            { organization: 'org_c', clientId: 'client-a' },
          ]
        : [];
    const both = verifierOf({ ssoClientsOf });
    const trusted = async (by: Verifier, aud: string) =>
      (await by.verify(await issuer.sign(claims({ aud })))).organizations;
    expect(await trusted(both, CLIENT)).to.equal(undefined);
    expect(await trusted(both, 'client-a')).to.deep.equal(['org_a', 'org_c']);
    const alone = verifierOf({ ssoClientsOf, issuers: [], ssoPublicOnly: false });
    expect(await trusted(alone, 'client-b')).to.deep.equal(['org_b']);
    expect((await refusalOf(await issuer.sign(claims()), alone)).message).to.match(/^aud must contain/);
    const other = await issuer.sign(claims({ iss: 'https://other.example.org', aud: 'client-a' }));
    expect((await refusalOf(other, alone)).message).to.match(/^the issuer in iss/);
  });

  it('of issuers that an organization names are not looked for inside the own network', async () => {
    const told: string[] = [];
    const local = issuer.url.replace('127.0.0.1', 'localhost');
    for (const name of [
      issuer.url,
      local,
      'https://[::1]:1',
      'https://10.0.0.1',
      'https://169.254.169.254',
    ]) {
      const by = verifierOf({
        issuers: [],
        ssoClientsOf: async () => [{ organization: 'org_a', clientId: CLIENT }],
        onAway: (_, { message }) => told.push(message),
      });
      const before = issuer.asked.length;
      expect((await refusalOf(await issuer.sign(claims({ iss: name })), by)).status).to.equal(503);
      expect(issuer.asked.length).to.equal(before);
      expect(told.splice(0).join()).to.match(/has an address that is not public/);
    }
  });

  it('of organizations whose issuers are found by no name server delay nobody else; sixteen documents of a host are read at a time', async () => {
    const names = await startNameServer();
    const ask = askNameServers([names.at]);
    const told: string[] = [];
    let giveUp: (error: Error) => void = () => undefined;
    const silence = new Promise<never>((_, reject) => {
      giveUp = reject;
    });
    const by = verifierOf({
      ssoClientsOf: async () => [{ organization: 'org_a', clientId: CLIENT }],
      resolve: (name) => (name === 'silent.example' ? silence : ask(name)),
      onAway: (_, { message }) => told.push(message),
    });
    const of = async (iss: string) => refusalOf(await issuer.sign(claims({ iss })), by);
    const silent = Array.from({ length: 17 }, (_, n) => of(`https://silent.example/${n}`));
    await Promise.any(silent);
    expect(told.splice(0).join()).to.include('requests to silent.example are already running (16)');
    expect((await of('https://quick.example')).status).to.equal(503);
    expect(told.splice(0).join()).to.include('ENOTFOUND');
    expect((await by.verify(await issuer.sign(claims()))).subject).to.equal('ada');
    expect(told).to.deep.equal([]);
    giveUp(new Error('nobody answers'));
    expect(new Set((await Promise.all(silent)).map(({ status }) => status))).to.deep.equal(new Set([503]));
    expect((await of('https://silent.example/after')).status).to.equal(503);
    expect(told.at(-1)).to.include('nobody answers');
    names.stop();
  });
});
