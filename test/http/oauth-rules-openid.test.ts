/** Rules of docs/oauth-rules.md: OpenID Connect and discovery. */
import { expect } from 'chai';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  answerOf,
  authorizePath,
  MOTHER,
  newChallenge,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey, keySetOf, PERSON } from '#test/support/oauth-journey.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';

describe('rules of OpenID Connect and discovery', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
  });
  after(() => stopWorkshop(service));

  const json = async (path: string): Promise<Record<string, unknown>> => {
    const response = await fetch(service.url + path);
    expect(response.status, path).to.equal(200);
    return (await response.json()) as Record<string, unknown>;
  };
  const keys = async () => keySetOf(await json('/oauth/jwks'));

  it('OIDC-1: the ID token is signed with RS256 by a published key', async () => {
    const client = await workshop.register();
    const tokens = await journey.tokens(client);
    const set = await keys();
    const header = decodeProtectedHeader(tokens.id_token);
    expect(header.alg).to.equal('RS256');
    expect(set.keys.map(({ kid }) => kid)).to.include(header.kid);
    const { payload } = await jwtVerify(tokens.id_token, createLocalJWKSet(set), {
      issuer: service.url,
      audience: client.client_id,
      algorithms: ['RS256'],
      requiredClaims: ['sub', 'exp', 'iat'],
    });
    const fhirUser = `${service.url}/fhir/R4/Patient/${tokens.patient}`;
    expect(payload.fhirUser).to.equal(fhirUser);
    expect((await journey.read(tokens.access_token, fhirUser)).status).to.equal(200);
    expect(payload.sub).to.not.contain(PERSON);
    expect(await journey.tokens(client, { scope: 'patient/*.rs' })).to.not.have.property('id_token');
  });

  it('OIDC-2: two sectors see different ids of a person and a patient; one sector sees the same', async () => {
    const ids = async (more: object) => {
      const { id_token, patient } = await journey.tokens(await workshop.register({ ...more }));
      const [, claims = ''] = id_token.split('.');
      const { sub } = JSON.parse(Buffer.from(claims, 'base64url').toString());
      return { sub, patient };
    };
    const [one, two] = [await ids({}), await ids({})];
    expect(one.sub).to.not.equal(two.sub);
    expect(one.patient).to.not.equal(two.patient);
    const [three, four] = [await ids({ sector: 'portal' }), await ids({ sector: 'portal' })];
    expect(three).to.deep.equal(four);
    expect(three.sub).to.not.equal(one.sub);
    const { rows } = await service.pool.query('select distinct record::text, subject from consents.grants');
    for (const { record, subject } of rows)
      for (const { sub, patient } of [one, two, three])
        expect([sub, patient]).to.not.include.members([record, subject]);
  });

  it('OIDC-3: an ID token of ours opens no interface', async () => {
    const { id_token, patient } = await journey.tokens(await workshop.register());
    for (const path of [
      `/fhir/R4/Patient/${patient}`,
      '/v1/patients',
      '/admin/organizations',
      '/me/patients',
    ])
      expect((await journey.read(id_token, path)).status, path).to.equal(401);
  });

  it('OIDC-4: the key set publishes public keys only', async () => {
    const set = await keys();
    expect(set.keys.length).to.be.greaterThan(0);
    for (const key of set.keys) {
      expect(key).to.include({ kty: 'RSA', alg: 'RS256', use: 'sig' });
      expect(key).to.not.have.any.keys('d', 'p', 'q', 'dp', 'dq', 'qi', 'k');
    }
  });

  it('OIDC-5: the ID token has the nonce that was sent, and none after a refresh', async () => {
    const client = await workshop.register();
    const nonceIn = ({ id_token }: { readonly id_token: string }) => decodeJwt(id_token).nonce;
    for (const nonce of ['n', 'x'.repeat(512), 'a b+c&d="é"😀']) {
      const tokens = await journey.tokens(client, { nonce });
      expect(nonceIn(tokens)).to.equal(nonce);
      const next = await journey.refresh(client, tokens.refresh_token);
      expect(nonceIn(next)).to.equal(undefined);
    }
    expect(nonceIn(await journey.tokens(client))).to.equal(undefined);
    // The same, but without a page.
    const visitor = new PageVisitor(service.url);
    await journey.tokens(client, { visitor });
    const { verifier, challenge } = newChallenge();
    const asked = { scope: 'openid', prompt: 'none', nonce: 'quiet', code_challenge: challenge };
    const silent = await visitor.step(authorizePath(client.client_id, asked));
    const code = answerOf(silent).get('code') ?? '';
    expect(nonceIn(await journey.exchange(client, { code, verifier }))).to.equal('quiet');
  });

  it('OIDC-6: userinfo gives the claims of the ID token under a token with openid, and errors of RFC 6750', async () => {
    const client = await workshop.register({
      scopes: ['openid', 'fhirUser', 'launch/patient', 'patient/*.rs'],
    });
    const { access_token, id_token } = await journey.tokens(client, {
      scope: 'openid fhirUser patient/*.rs',
    });
    const { sub, fhirUser } = decodeJwt(id_token);
    for (const method of ['GET', 'POST']) {
      const answer = await journey.read(access_token, '/oauth/userinfo', method);
      expect([answer.status, answer.json]).to.deep.equal([200, { sub, fhirUser }]);
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    }
    const narrow = await journey.tokens(client, { scope: 'openid patient/*.rs' });
    expect((await journey.read(narrow.access_token, '/oauth/userinfo')).json).to.deep.equal({ sub });
    const limited = await journey.tokens(client, { scope: 'openid', resource: `${service.url}/fhir/R4` });
    expect((await journey.read(limited.access_token, '/oauth/userinfo')).json).to.deep.equal({ sub });
    const dependent = await journey.tokens(client, { email: MOTHER, record: 1, scope: 'openid fhirUser' });
    expect((await journey.read(dependent.access_token, '/oauth/userinfo')).json).to.have.all.keys('sub');
    const fault = async (
      token: string | undefined,
      status: number,
      challenge: RegExp,
      path = '/oauth/userinfo',
    ) => {
      const answer = await fetch(service.url + path, {
        headers: { Origin: 'https://app.example', ...(token === undefined ? {} : { Authorization: token }) },
      });
      expect(answer.status, token).to.equal(status);
      expect(answer.headers.get('www-authenticate') ?? '').to.match(challenge);
      expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
      expect(await answer.json()).to.have.all.keys('error', 'error_description');
    };
    const without = await journey.tokens(client, { scope: 'patient/*.rs' });
    await fault(undefined, 401, /^Bearer realm="annal"$/);
    await fault(`Bearer at_${'x'.repeat(43)}`, 401, /error="invalid_token"/);
    await fault('Basic YTpi', 401, /^Bearer/);
    await fault(`Bearer ${id_token}`, 401, /error="invalid_token"/);
    await fault(`Bearer ${without.access_token}`, 403, /error="insufficient_scope".*scope="openid"/);
    await fault(`Bearer ${service.key}`, 403, /error="insufficient_scope"/);
    await fault(undefined, 400, /^$/, `/oauth/userinfo?access_token=${access_token}`);
    const preflight = await fetch(`${service.url}/oauth/userinfo`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'GET' },
    });
    expect(preflight.status).to.equal(204);
    expect((await fetch(`${service.url}/oauth/userinfo`, { method: 'DELETE' })).status).to.equal(405);
    await journey.post('/oauth/revoke', client, { token: access_token });
    await fault(`Bearer ${access_token}`, 401, /error="invalid_token"/);
  });

  it('OIDC-7: an application ends the session of a person that it knows; else a page asks', async () => {
    const back = 'https://diary.example.org/bye?x=1';
    const client = await workshop.register({ post_logout_redirect_uris: [back] });
    expect(client.post_logout_redirect_uris).to.deep.equal([back]);
    const visitor = new PageVisitor(service.url);
    const { id_token } = await journey.tokens(client, { visitor });
    const logout = (fields: Readonly<Record<string, string>>) =>
      `/oauth/logout?${new URLSearchParams({ lang: 'en', ...fields })}`;
    const isSignedIn = async (who = visitor) => (await who.step('/connections')).status === 200;
    const asks = async (fields: Readonly<Record<string, string>>, who = visitor) => {
      const page = await who.step(logout(fields));
      expect([page.status, page.headers.get('location')]).to.deep.equal([200, null]);
      expect(page.text).to.include('You are signed in');
      expect(await isSignedIn(who)).to.equal(true);
    };
    const other = await workshop.register({ post_logout_redirect_uris: [back] });
    const stranger = new PageVisitor(service.url);
    await journey.tokens(other, { visitor: stranger, email: MOTHER });
    await asks({});
    await asks({ client_id: client.client_id, post_logout_redirect_uri: back });
    await asks({ id_token_hint: 'x.y.z', client_id: client.client_id, post_logout_redirect_uri: back });
    await asks({ id_token_hint: id_token, post_logout_redirect_uri: back }, stranger);
    await asks({ id_token_hint: id_token, client_id: other.client_id });
    // The visitor is signed in as a person whom the application knows.
    const ended = await visitor.step(
      logout({ id_token_hint: id_token, post_logout_redirect_uri: back, state: 's&t' }),
    );
    expect([ended.status, ended.headers.get('location')]).to.deep.equal([303, `${back}&state=s%26t`]);
    expect(await isSignedIn()).to.equal(false);
    // Without a session, there is nothing to ask. Addresses are compared character by character.
    const left = async (fields: Readonly<Record<string, string>>) => {
      const page = await new PageVisitor(service.url).step(logout(fields));
      return page.headers.get('location');
    };
    expect(await left({ client_id: client.client_id, post_logout_redirect_uri: back })).to.equal(back);
    for (const fields of [
      { client_id: client.client_id, post_logout_redirect_uri: `${back}&y=2` },
      { client_id: client.client_id, post_logout_redirect_uri: 'https://evil.example/' },
      { client_id: other.client_id, id_token_hint: id_token, post_logout_redirect_uri: back },
      { id_token_hint: 'x.y.z', client_id: client.client_id, post_logout_redirect_uri: back },
      { post_logout_redirect_uri: back },
      { client_id: client.client_id, post_logout_redirect_uri: back, state: 'x'.repeat(513) },
      {},
    ])
      expect(await left(fields), JSON.stringify(fields)).to.equal(null);
    // The page's own button works, but a form on another site doesn't.
    const asked = await stranger.open(logout({ client_id: other.client_id, post_logout_redirect_uri: back }));
    expect(asked.headers.get('content-security-policy')).to.include(
      "form-action 'self' https://diary.example.org",
    );
    const forged = await stranger.submit({}, { 'Sec-Fetch-Site': 'cross-site' });
    expect(forged.status).to.equal(403);
    await stranger.open(logout({ client_id: other.client_id, post_logout_redirect_uri: back }));
    expect((await stranger.submit()).headers.get('location')).to.equal(back);
    expect(await isSignedIn(stranger)).to.equal(false);
    const posted = await fetch(`${service.url}/oauth/logout`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Sec-Fetch-Site': 'cross-site' },
      body: new URLSearchParams({ client_id: client.client_id, state: 's', other: 'x' }),
    });
    expect([posted.status, posted.headers.get('location')]).to.deep.equal([
      303,
      `${service.url}/oauth/logout?client_id=${client.client_id}&state=s`,
    ]);
  });

  it('DISC-1: all discovery documents name the same issuer and endpoints', async () => {
    const documents = [];
    for (const path of [
      '/.well-known/smart-configuration',
      '/fhir/R4/.well-known/smart-configuration',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ])
      documents.push(await json(path));
    for (const document of documents) {
      expect(document).to.include({
        issuer: service.url,
        authorization_endpoint: `${service.url}/oauth/authorize`,
        token_endpoint: `${service.url}/oauth/token`,
        jwks_uri: `${service.url}/oauth/jwks`,
        userinfo_endpoint: `${service.url}/oauth/userinfo`,
        end_session_endpoint: `${service.url}/oauth/logout`,
      });
    }
  });

  it('DISC-2: the documents state only what works', async () => {
    const document = await json('/.well-known/oauth-authorization-server');
    expect(document).to.deep.include({
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
    });
    expect(document.grant_types_supported).to.include.members([
      'authorization_code',
      'refresh_token',
      'client_credentials',
    ]);
    expect(document.grant_types_supported).to.not.include('implicit').and.not.include('password');
    expect(document.token_endpoint_auth_methods_supported).to.have.members([
      'none',
      'client_secret_basic',
      'client_secret_post',
      'private_key_jwt',
    ]);
    for (const name of [
      'registration_endpoint',
      'pushed_authorization_request_endpoint',
      'dpop_signing_alg_values_supported',
    ])
      expect(document).to.not.have.property(name);
    const smart = await json('/fhir/R4/.well-known/smart-configuration');
    expect(smart.capabilities).to.include.members([
      'launch-standalone',
      'client-public',
      'permission-v1',
      'permission-v2',
    ]);
    expect(smart.capabilities).to.not.include('launch-ehr');
  });

  it('DISC-3: a 401 of an interface names its protected-resource metadata', async () => {
    for (const path of ['/fhir/R4/Patient', '/v1/patients']) {
      const response = await fetch(service.url + path);
      const challenge = response.headers.get('www-authenticate') ?? '';
      const [, metadata = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
      expect([response.status, metadata.startsWith(service.url)], challenge).to.deep.equal([401, true]);
      const document = await json(metadata.slice(service.url.length));
      expect(document.authorization_servers).to.deep.equal([service.url]);
      expect(`${service.url}${path}`.startsWith(String(document.resource))).to.equal(true);
    }
  });
});
