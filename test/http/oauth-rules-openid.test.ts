/** Rules of docs/oauth-rules.md: OpenID Connect and discovery. */
import { expect } from 'chai';
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey, keySetOf, PERSON } from '#test/support/oauth-journey.ts';

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
      });
    }
  });

  it('DISC-2: the documents state only what works', async () => {
    const document = await json('/.well-known/oauth-authorization-server');
    expect(document).to.deep.include({
      response_types_supported: ['code'],
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
    expect(smart.capabilities).to.include.members(['launch-standalone', 'client-public', 'permission-v2']);
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
