/** Keys, sectors, secrets and logos of applications through the admin interface. */
import { createHash, generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import { openClients } from '#src/oauth/clients.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const CONFIDENTIAL = {
  name: 'Portal',
  kind: 'confidential',
  redirect_uris: ['https://portal.example/back'],
  scopes: ['openid', 'patient/*.rs', 'system/*.rs'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
};
/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
const WEBP = 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA';

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex');
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const good = rsa(2_048);
const RSA = { ...good.publicKey.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS384', use: 'sig' };
const EC = {
  ...generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }),
  kid: 'ec',
};

describe('admin: what applications authenticate with and show', () => {
  let service: InProcess;
  let owner: AdminUser;
  let developer: AdminUser;
  let project: string;
  let find: ReturnType<typeof openClients>;
  const post = (body: object) => owner.ask('POST', `/projects/${project}/applications`, body);
  const register = (body: object) => owner.done('POST', `/projects/${project}/applications`, body);
  const shown = async (id: string) =>
    (await owner.done('GET', `/projects/${project}/applications`)).data.find((each) => each.id === id);

  before(async () => {
    service = await startInProcess();
    find = openClients(service.pool);
    owner = await signIn(service, 'owner@clinic.example');
    ({
      project: { id: project },
    } = await owner.done('POST', '/sandbox/quickstart', {}));
    const { organization_id } = await owner.done('GET', `/projects/${project}`);
    developer = await signIn(service, 'developer@clinic.example');
    const { issuer, subject } = developer;
    const member = { issuer, subject, role: 'developer' };
    await owner.done('POST', `/organizations/${organization_id}/members`, member);
  });
  after(() => service.stop());

  it('keep the public keys of one that signs, and give it no secret', async () => {
    const made = await register({
      ...CONFIDENTIAL,
      jwks: { keys: [{ ...RSA, x5c: ['MII'], key_ops: ['verify'] }, EC] },
    });
    expect(made).to.not.have.property('client_secret');
    expect(made).to.deep.include({ jwks: { keys: [RSA, EC] }, jwks_uri: null });
    expect(await shown(made.id)).to.deep.equal(made);
    expect(await find(made.client_id)).to.deep.include({ jwks: { keys: [RSA, EC] }, secrets: [] });
    const answer = await owner.ask('POST', `/applications/${made.id}/secrets`, {});
    expect([answer.status, answer.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 409 && text.includes('signs with keys'),
    );
    const far = await register({ ...CONFIDENTIAL, jwks_uri: 'https://portal.example/jwks' });
    expect(far).to.deep.include({ jwks: null, jwks_uri: 'https://portal.example/jwks' });
    expect(await find(far.client_id)).to.include({ jwksUri: 'https://portal.example/jwks' });
  });

  it('keep the sector that the registration names, for good', async () => {
    const [named, own] = [
      await register({ ...CONFIDENTIAL, sector: 'portal' }),
      await register(CONFIDENTIAL),
    ];
    expect([named.sector, own.sector]).to.deep.equal(['portal', null]);
    expect((await find(named.client_id))?.sector).to.equal('portal');
    expect((await find(own.client_id))?.sector).to.equal(own.id);
    const change = await owner.ask('PUT', `/applications/${named.id}/branding`, { sector: 'other' });
    expect(change.status).to.equal(422);
  });

  const small = rsa(1_024).publicKey.export({ format: 'jwk' });
  const wrong: [string, object, string][] = [
    ['keys and where they are', { jwks: { keys: [RSA] }, jwks_uri: 'https://a.example/jwks' }, 'jwks_uri'],
    [
      'keys of a public application',
      { kind: 'public', grant_types: undefined, jwks: { keys: [RSA] } },
      'jwks',
    ],
    [
      'a place of keys of a public application',
      { kind: 'public', grant_types: undefined, jwks_uri: 'https://a.example/jwks' },
      'jwks_uri',
    ],
    ['a place of keys over http', { jwks_uri: 'http://a.example/jwks' }, 'jwks_uri'],
    ['no key', { jwks: { keys: [] } }, 'jwks.keys'],
    ['a private key', { jwks: { keys: [good.privateKey.export({ format: 'jwk' })] } }, 'jwks.keys.0'],
    ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'jwks.keys.0'],
    ['a short key', { jwks: { keys: [{ ...small, kid: 'small' }] } }, 'jwks.keys.0'],
    ['a point off the curve', { jwks: { keys: [{ ...EC, x: EC.y, y: EC.x }] } }, 'jwks.keys.0'],
    ['a key for encryption', { jwks: { keys: [{ ...RSA, use: 'enc' }] } }, 'jwks.keys.0.use'],
    ['a symmetric algorithm', { jwks: { keys: [{ ...RSA, alg: 'HS256' }] } }, 'jwks.keys.0.alg'],
    ['two keys of one id', { jwks: { keys: [RSA, { ...EC, kid: 'rsa' }] } }, 'jwks.keys'],
    ['an empty sector', { sector: '' }, 'sector'],
    ['a sector of 65 characters', { sector: 'x'.repeat(65) }, 'sector'],
  ];
  for (const [what, more, field] of wrong) {
    it(`refuse ${what}`, async () => {
      const answer = await post({ ...CONFIDENTIAL, ...more });
      const { error } = JSON.parse(answer.text);
      expect([answer.status, error.field], answer.text).to.deep.equal([422, field]);
    });
  }

  it('CLIENT-10: refuse private, symmetric and weak keys', async () => {
    const own = good.privateKey.export({ format: 'jwk' });
    for (const key of [own, { ...RSA, d: own.d }, { kty: 'oct', k: 'AAAA' }, { ...small, kid: 'small' }]) {
      const answer = await post({ ...CONFIDENTIAL, jwks: { keys: [key] } });
      expect(answer.status).to.equal(422);
      expect(answer.text).to.not.contain(own.d);
    }
  });

  it('rotate a secret with an overlap, and end the one before at once without', async () => {
    const made = await register(CONFIDENTIAL);
    const rotate = (body: object) => owner.done('POST', `/applications/${made.id}/secrets`, body);
    const working = async () => (await find(made.client_id))?.secrets.map((secret) => secret.sha256);
    const before = Date.now();
    const second = await rotate({ overlap_hours: 168 });
    const until = Date.parse(String(second.previous_secret_expires_at));
    expect(until - before - 168 * 3_600_000).to.be.within(0, 60_000);
    expect((await shown(made.id))?.previous_secret_expires_at).to.equal(second.previous_secret_expires_at);
    expect(await working()).to.deep.equal([sha256(second.client_secret), sha256(made.client_secret)]);
    const third = await rotate({});
    expect(await working()).to.deep.equal([sha256(third.client_secret), sha256(second.client_secret)]);
    const fourth = await rotate({ overlap_hours: 0 });
    expect(fourth.previous_secret_expires_at).to.equal(null);
    expect(await working()).to.deep.equal([sha256(fourth.client_secret)]);
    expect((await shown(made.id))?.previous_secret_expires_at).to.equal(null);
    const { rows } = await service.pool.query(
      "select convert_to(e::text, 'UTF8') as bytes from log.events e where stream = $1",
      [`application-${made.id}`],
    );
    const log = rows.map(({ bytes }) => String(bytes)).join();
    for (const { client_secret } of [made, second, third, fourth]) expect(log).to.not.contain(client_secret);
  });

  it('end a secret when its overlap has passed', async () => {
    const made = await register(CONFIDENTIAL);
    await owner.done('POST', `/applications/${made.id}/secrets`, { overlap_hours: 1 });
    expect((await find(made.client_id))?.secrets).to.have.length(2);
    await service.pool.query(
      'update projects.application set previous_until = extract(epoch from now()) * 1000000 where id = $1',
      [made.id],
    );
    expect((await find(made.client_id))?.secrets).to.have.length(1);
    expect((await shown(made.id))?.previous_secret_expires_at).to.equal(null);
  });

  it('answer a repeated rotation with the same secret, and rotate once', async () => {
    const made = await register(CONFIDENTIAL);
    const rotate = () =>
      owner.ask('POST', `/applications/${made.id}/secrets`, {}, { 'Idempotency-Key': 'rotation' });
    const [first, again] = [await rotate(), await rotate()];
    expect([first.status, again.text]).to.deep.equal([201, first.text]);
    const secrets = (await find(made.client_id))?.secrets.map((secret) => secret.sha256);
    expect(secrets).to.deep.equal([sha256(JSON.parse(first.text).client_secret), sha256(made.client_secret)]);
  });

  it('refuse an overlap beyond seven days, and rotations by developers and strangers', async () => {
    const made = await register(CONFIDENTIAL);
    for (const overlap_hours of [169, -1, 0.5, '24']) {
      const answer = await owner.ask('POST', `/applications/${made.id}/secrets`, { overlap_hours });
      expect(answer.status, String(overlap_hours)).to.equal(422);
    }
    const stranger = await signIn(service, 'stranger@other.example');
    expect((await stranger.ask('POST', `/applications/${made.id}/secrets`, {})).status).to.equal(404);
    expect((await find(made.client_id))?.secrets).to.have.length(1);
  });

  it('take other redirect URIs and scopes, and leave the rest as it was', async () => {
    const made = await register({ ...CONFIDENTIAL, privacy_url: 'https://portal.example/privacy' });
    const { client_secret, ...before } = made;
    const change = (body: object) => owner.done('PATCH', `/applications/${made.id}`, body);
    const uris = ['https://portal.example/back', 'https://portal.example/there'];
    const changed = await change({ redirect_uris: uris });
    expect(changed).to.deep.equal({ ...before, redirect_uris: uris });
    expect(await change({ scopes: ['openid', 'patient/Condition.rs'], privacy_url: null })).to.deep.equal({
      ...changed,
      scopes: ['openid', 'patient/Condition.rs'],
      privacy_url: null,
    });
    expect((await find(made.client_id))?.redirectUris).to.deep.equal(uris);
    expect((await find(made.client_id))?.secrets).to.deep.equal([{ sha256: sha256(client_secret) }]);
    expect(await change({})).to.deep.equal(await shown(made.id));
  });

  it('sign with other keys, which end the secrets; then no secret can be made', async () => {
    const made = await register(CONFIDENTIAL);
    await owner.done('POST', `/applications/${made.id}/secrets`, {});
    const change = (body: object) => owner.done('PATCH', `/applications/${made.id}`, body);
    const keyed = await change({ jwks: { keys: [RSA] } });
    expect(keyed).to.deep.include({ jwks: { keys: [RSA] }, previous_secret_expires_at: null });
    expect(await find(made.client_id)).to.deep.include({ jwks: { keys: [RSA] }, secrets: [] });
    expect(await change({ jwks_uri: 'https://portal.example/jwks' })).to.deep.include({ jwks: null });
    const client = await find(made.client_id);
    expect(client).to.deep.include({ jwksUri: 'https://portal.example/jwks', secrets: [] });
    expect(client).to.not.have.property('jwks');
    await change({ redirect_uris: ['https://portal.example/there'] });
    expect(await find(made.client_id)).to.include({ jwksUri: 'https://portal.example/jwks' });
    expect((await owner.ask('POST', `/applications/${made.id}/secrets`, {})).status).to.equal(409);
  });

  it('refuse changes that a registration would refuse, and those of developers and strangers', async () => {
    const made = await register(CONFIDENTIAL);
    const open = await register({ ...CONFIDENTIAL, kind: 'public', grant_types: undefined });
    for (const [id, body, field] of [
      [made.id, { redirect_uris: [] }, 'redirect_uris'],
      [made.id, { redirect_uris: ['org.example.app:/back'] }, 'redirect_uris.0'],
      [made.id, { scopes: ['patient/Cat.rs'] }, 'scopes.0'],
      [made.id, { jwks: { keys: [good.privateKey.export({ format: 'jwk' })] } }, 'jwks.keys.0'],
      [made.id, { jwks: { keys: [RSA] }, jwks_uri: 'https://a.example/jwks' }, 'jwks_uri'],
      [open.id, { jwks: { keys: [RSA] } }, 'jwks'],
      [open.id, { jwks_uri: 'https://a.example/jwks' }, 'jwks_uri'],
      [made.id, { kind: 'public' }, 'kind'],
      [made.id, { environment: 'production' }, 'environment'],
    ] as const) {
      const answer = await owner.ask('PATCH', `/applications/${id}`, body);
      const { error } = JSON.parse(answer.text);
      expect([answer.status, error.field], answer.text).to.deep.equal([422, field]);
    }
    const stranger = await signIn(service, 'stranger@other.example');
    for (const [who, status] of [
      [developer, 403],
      [stranger, 404],
    ] as const) {
      const answer = await who.ask('PATCH', `/applications/${made.id}`, { scopes: ['openid'] });
      expect(answer.status).to.equal(status);
    }
    expect((await shown(made.id))?.scopes).to.deep.equal(CONFIDENTIAL.scopes);
  });

  it('say in the words of the consent page what scopes mean, also before they are registered', async () => {
    const made = await register(CONFIDENTIAL);
    const ask = (query: string) => owner.ask('GET', `/applications/${made.id}/scopes${query}`);
    const own = JSON.parse((await ask('')).text);
    expect(own.lang).to.equal('en');
    expect(own.languages.map(({ lang }: { lang: string }) => lang)).to.include.members(['en', 'de', 'ar']);
    expect(own.scopes.map(({ scope }: { scope: string }) => scope)).to.deep.equal(CONFIDENTIAL.scopes);
    expect(own.scopes[0].sentences).to.deep.equal([
      'Portal recognises you when you come back, by an identifier that is made for it',
    ]);
    expect(own.scopes[1].sentences[0]).to.match(/^Read your results, /);
    expect(own.scopes[2].sentences).to.deep.equal([]);
    const other = JSON.parse((await ask('?lang=de-CH&scope=patient/Condition.cud%20offline_access')).text);
    expect(other.lang).to.equal('de');
    expect(other.scopes.map(({ scope }: { scope: string }) => scope)).to.deep.equal([
      'patient/Condition.cud',
      'offline_access',
    ]);
    expect(other.scopes[0].sentences[0]).to.include('löschen');
    const wrong = await ask('?scope=patient/Cat.rs');
    expect([wrong.status, JSON.parse(wrong.text).error.field]).to.deep.equal([422, 'query.scope']);
    const stranger = await signIn(service, 'stranger@other.example');
    expect((await stranger.ask('GET', `/applications/${made.id}/scopes`)).status).to.equal(404);
  });

  it('show the consent page as people will see it, about nobody, without a script or a form that works', async () => {
    const made = await register({ ...CONFIDENTIAL, privacy_url: 'https://portal.example/privacy' });
    await owner.done('PUT', `/applications/${made.id}/branding`, { logo: PNG });
    const ask = (query: string, who = owner) =>
      who.ask('GET', `/applications/${made.id}/consent-page${query}`);
    const shownPage = await ask('');
    expect(shownPage.status, shownPage.text).to.equal(200);
    expect(shownPage.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    const policy = shownPage.headers.get('content-security-policy') ?? '';
    expect(policy).to.include("default-src 'none'").and.include("form-action 'none'");
    expect(policy).to.not.include('script-src');
    expect(shownPage.text).to.include('asks for access to a health record').and.include('Alex Example');
    expect(shownPage.text).to.include(`src="data:image/png;base64,${PNG}"`);
    for (const none of [
      'owner@clinic.example',
      owner.subject,
      '<script',
      ' action=',
      'type="hidden"',
      '/oauth/',
    ])
      expect(shownPage.text, none).to.not.include(none);
    const german = await ask('?lang=de&scope=patient/Condition.rs');
    expect(german.text).to.include('<html lang="de"').and.include('https://portal.example/privacy');
    expect(german.text).to.not.include('offline');
    const wrong = await ask('?scope=patient/Cat.rs');
    expect([wrong.status, JSON.parse(wrong.text).error.field]).to.deep.equal([422, 'query.scope']);
    expect((await ask('', developer)).status).to.equal(200);
    expect((await ask('', await signIn(service, 'stranger@other.example'))).status).to.equal(404);
    const backend = await register({
      ...CONFIDENTIAL,
      redirect_uris: [],
      grant_types: ['client_credentials'],
    });
    expect((await owner.ask('GET', `/applications/${backend.id}/consent-page`)).status).to.equal(404);
  });

  it('serve an uploaded logo by the service itself, by its hash', async () => {
    const made = await register(CONFIDENTIAL);
    const path = `/applications/${made.id}/branding`;
    for (const [file, content_type] of [
      [PNG, 'image/png'],
      [WEBP, 'image/webp'],
    ] as const) {
      const bytes = Buffer.from(file, 'base64');
      const url = `${service.url}/oauth/logos/${made.id}/${sha256(bytes)}`;
      const branded = await owner.done('PUT', path, { logo: file, color: '#000000' });
      const logo = { url, content_type, size: bytes.byteLength };
      expect(branded.branding).to.deep.include({ logo, color: '#000000' });
      expect(await shown(made.id)).to.deep.equal(branded);
      const served = await fetch(url);
      expect(served.headers.get('content-type')).to.equal(content_type);
      expect(served.headers.get('x-content-type-options')).to.equal('nosniff');
      expect(served.headers.get('content-security-policy')).to.contain("default-src 'none'");
      expect(Buffer.from(await served.arrayBuffer()).equals(bytes)).to.equal(true);
    }
    const replaced = `${service.url}/oauth/logos/${made.id}/${sha256(Buffer.from(PNG, 'base64'))}`;
    expect((await fetch(replaced)).status).to.equal(404);
    const now = `${service.url}/oauth/logos/${made.id}/${sha256(Buffer.from(WEBP, 'base64'))}`;
    expect((await owner.done('PUT', path, {})).branding).to.deep.include({ logo: null });
    expect((await fetch(now)).status).to.equal(404);
    await owner.done('PUT', path, { logo: WEBP });
    expect((await fetch(now)).status).to.equal(200);
    await owner.done('DELETE', `/applications/${made.id}`);
    expect((await fetch(now)).status).to.equal(404);
  });

  it('CLIENT-11: refuse a logo of another type, whatever it is called, and one over 64 kB', async () => {
    const made = await register(CONFIDENTIAL);
    const of = (text: string) => Buffer.from(text).toString('base64');
    const large = Buffer.concat([Buffer.from(PNG, 'base64'), Buffer.alloc(64 * 1_024)]).toString('base64');
    const most = Buffer.concat([Buffer.from(PNG, 'base64')], 64 * 1_024).toString('base64');
    for (const logo of [
      of('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      of('<html><script>alert(1)</script>'),
      of('GIF89a\u0001\u0000\u0001\u0000'),
      of('%PDF-1.7'),
      'not base64!',
      '',
      large,
    ]) {
      const answer = await owner.ask('PUT', `/applications/${made.id}/branding`, { logo });
      const field = JSON.parse(answer.text).error?.field;
      expect([answer.status, field], logo.slice(0, 40)).to.deep.equal([422, 'logo']);
    }
    expect((await owner.ask('PUT', `/applications/${made.id}/branding`, { logo: most })).status).to.equal(
      200,
    );
  });

  it('are unknown as clients once they are deleted, themselves or their project', async () => {
    const made = await register(CONFIDENTIAL);
    const { id, organization_id, production } = await owner.done('GET', `/projects/${project}`);
    expect([id, production]).to.deep.equal([project, true]);
    expect(await find(made.client_id)).to.include({ applicationId: made.id, project, kind: 'confidential' });
    await owner.done('DELETE', `/applications/${made.id}`);
    expect(await find(made.client_id)).to.equal(undefined);
    const other = await owner.done('POST', `/organizations/${organization_id}/projects`, { name: 'Other' });
    const there = await owner.done('POST', `/projects/${other.id}/applications`, CONFIDENTIAL);
    expect(await find(there.client_id)).to.include({ applicationId: there.id });
    await owner.done('DELETE', `/projects/${other.id}`);
    expect(await find(there.client_id)).to.equal(undefined);
    for (const id of ['', 'client_test_x', '\u0000', "' or 1=1 --"])
      expect(await find(id)).to.equal(undefined);
  });
});
