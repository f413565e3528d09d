/**
 * The checks of Inferno's SMART App Launch STU2 suite, under the suite's ids but in our own words
 * (https://github.com/inferno-framework/smart-app-launch-test-kit): discovery, standalone launch, OpenID Connect, token
 * refresh, introspection, backend services. The suite's TLS checks are left out, because they concern the proxy in front of
 * the service.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
} from 'jose';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  formOf,
  newChallenge,
  signInTo,
  startWorkshop,
  stopWorkshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import {
  EVERYTHING,
  Journey,
  type JourneyClient,
  keySetOf,
  PERSON,
  type TokenAnswer,
} from '#test/support/oauth-journey.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';

const STRINGS = ['access_token', 'token_type', 'scope', 'patient', 'id_token', 'refresh_token'];
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });

describe('Inferno, SMART App Launch STU2', () => {
  let service: InProcess;
  let journey: Journey;
  let client: JourneyClient;
  let portal: JourneyClient;
  let backend: JourneyClient;
  let smart: Record<string, unknown>;
  let openid: Record<string, unknown>;
  let code: string;
  let verifier: string;
  let tokens: TokenAnswer;

  before(async () => {
    const started = await startWorkshop();
    const { workshop } = started;
    service = started.service;
    journey = new Journey(service.url);
    client = await workshop.register();
    portal = await workshop.register({ kind: 'confidential' });
    backend = await workshop.register({
      kind: 'confidential',
      redirect_uris: [],
      scopes: ['system/*.rs'],
      grant_types: ['client_credentials'],
      jwks: {
        keys: [
          { ...ec.publicKey.export({ format: 'jwk' }), kid: 'es', alg: 'ES384' },
          { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rs', alg: 'RS384' },
        ],
      },
    });
  });
  after(() => stopWorkshop(service));

  const json = async (url: string): Promise<Record<string, unknown>> => {
    const response = await fetch(url);
    expect(response.status, url).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^application\/(?:jwk-set\+)?json/);
    return (await response.json()) as Record<string, unknown>;
  };

  /** Checks that the required members are present, and the types of all members. */
  const expectTokenBody = (answer: TokenAnswer): void => {
    for (const name of ['access_token', 'token_type', 'expires_in', 'scope']) expect(answer[name]).to.be.ok;
    for (const name of STRINGS) if (answer[name] !== undefined) expect(answer[name], name).to.be.a('string');
    expect(answer.expires_in).to.be.a('number');
    expect(answer.token_type.toLowerCase()).to.equal('bearer');
  };
  const expectHeaders = ({ headers }: TokenAnswer): void => {
    expect(headers.get('cache-control')).to.contain('no-store');
    expect(headers.get('pragma')).to.contain('no-cache');
  };

  describe('smart_discovery_stu2', () => {
    it('well_known_endpoint', async () => {
      smart = await json(`${service.url}/fhir/R4/.well-known/smart-configuration`);
    });

    it('well_known_capabilities_stu2', () => {
      for (const name of ['authorization_endpoint', 'token_endpoint', 'issuer', 'jwks_uri'])
        expect(smart[name], name).to.be.a('string').and.not.equal('');
      for (const name of ['capabilities', 'grant_types_supported', 'code_challenge_methods_supported'])
        expect(smart[name], name).to.be.an('array').and.not.deep.equal([]);
      expect(smart.grant_types_supported).to.include('authorization_code');
      expect(smart.code_challenge_methods_supported).to.include('S256').and.not.include('plain');
      for (const capability of smart.capabilities as unknown[]) expect(capability).to.be.a('string');
    });
  });

  describe('smart_standalone_launch_stu2', () => {
    let redirected: URLSearchParams;

    it('smart_app_redirect_stu2', async () => {
      const made = newChallenge();
      verifier = made.verifier;
      const visitor = new PageVisitor(service.url);
      const path = authorizePath(client.client_id, {
        scope: EVERYTHING,
        state: 'inferno',
        aud: `${service.url}/fhir/R4`,
        code_challenge: made.challenge,
      });
      const page = await signInTo(visitor, path, PERSON);
      const sent = await visitor.submit([...formOf(page), ['decision', 'allow']]);
      expect(sent.headers.get('location')).to.satisfy((url: string) => url.startsWith(CALLBACK));
      redirected = answerOf(sent);
    });

    it('smart_code_received', () => {
      expect([redirected.get('error'), redirected.get('state')]).to.deep.equal([null, 'inferno']);
      code = redirected.get('code') ?? '';
      expect(code).to.not.equal('');
    });

    it('smart_token_exchange_stu2', async () => {
      tokens = await journey.exchange(client, { code, verifier });
      expect(tokens.status, tokens.text).to.equal(200);
    });

    it('smart_token_response_body', () => {
      expectTokenBody(tokens);
      expect(tokens.scope.split(' ').sort()).to.deep.equal(EVERYTHING.split(' ').sort());
      expect(tokens.patient).to.not.equal('');
    });

    it('smart_token_response_headers', () => {
      expectHeaders(tokens);
    });
  });

  describe('smart_openid_connect', () => {
    let keys: JSONWebKeySet;

    it('smart_openid_decode_id_token', () => {
      expect(decodeJwt(tokens.id_token)).to.be.an('object');
      expect(decodeProtectedHeader(tokens.id_token)).to.be.an('object');
    });

    it('smart_openid_retrieve_configuration', async () => {
      openid = await json(`${decodeJwt(tokens.id_token).iss}/.well-known/openid-configuration`);
    });

    it('smart_openid_required_configuration_fields', () => {
      expect(openid).to.include.all.keys(
        'issuer',
        'authorization_endpoint',
        'token_endpoint',
        'jwks_uri',
        'response_types_supported',
        'subject_types_supported',
        'id_token_signing_alg_values_supported',
      );
      expect(openid.id_token_signing_alg_values_supported).to.include('RS256');
    });

    it('smart_openid_retrieve_jwks', async () => {
      keys = keySetOf(await json(String(openid.jwks_uri)));
      expect(keys.keys.filter(({ kty }) => kty === 'RSA')).to.not.deep.equal([]);
    });

    it('smart_openid_token_header', () => {
      const { alg, kid } = decodeProtectedHeader(tokens.id_token);
      expect(alg).to.equal('RS256');
      expect(keys.keys.filter((key) => key.kid === kid)).to.have.length(1);
    });

    it('smart_openid_token_payload', async () => {
      const { payload } = await jwtVerify(tokens.id_token, createLocalJWKSet(keys), {
        algorithms: ['RS256'],
        issuer: String(openid.issuer),
        audience: client.client_id,
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
      });
      expect(payload.sub?.length).to.be.within(1, 255);
    });

    it('smart_openid_fhir_user_claim', async () => {
      const { fhirUser } = decodeJwt(tokens.id_token);
      expect(fhirUser).to.match(/\/(?:Patient|Practitioner|RelatedPerson|Person)\/[^/]+$/);
      const read = await journey.read(tokens.access_token, String(fhirUser));
      expect([read.status, read.json.resourceType]).to.deep.equal([200, 'Patient']);
    });
  });

  describe('smart_token_introspection', () => {
    it('smart_token_introspection_response_group: an active token', async () => {
      const answer = await journey.post('/oauth/introspect', client, { token: tokens.access_token });
      const { iss, sub, fhirUser } = decodeJwt(tokens.id_token);
      expect(answer).to.include({
        active: true,
        client_id: client.client_id,
        patient: tokens.patient,
        iss,
        sub,
      });
      expect(String(answer.scope).split(' ').sort()).to.deep.equal(tokens.scope.split(' ').sort());
      expect(Number(answer.exp)).to.be.greaterThan(Date.now() / 1_000);
      expect(answer.fhirUser).to.be.oneOf([undefined, fhirUser]);
    });

    it('smart_token_introspection_response_group: an invalid token', async () => {
      const answer = await journey.post('/oauth/introspect', client, { token: 'invalid' });
      expect([answer.status, answer.text]).to.deep.equal([200, '{"active":false}']);
    });
  });

  describe('smart_token_refresh_stu2', () => {
    const refreshed: TokenAnswer[] = [];

    it('smart_token_refresh_stu2', async () => {
      const confidential = await journey.tokens(portal);
      for (const [own, { refresh_token, scope }] of [
        [client, tokens],
        [portal, confidential],
      ] as const) {
        const without = await journey.refresh(own, refresh_token);
        expect(without.status, without.text).to.equal(200);
        const including = await journey.refresh(own, without.refresh_token, { scope });
        expect(including.status, including.text).to.equal(200);
        refreshed.push(without, including);
      }
    });

    it('smart_token_refresh_body', () => {
      for (const answer of refreshed) {
        expectTokenBody(answer);
        const scopes = answer.scope.split(' ');
        expect(tokens.scope.split(' ')).to.include.members(scopes);
      }
    });

    it('smart_token_response_headers', () => {
      for (const answer of refreshed) expectHeaders(answer);
    });
  });

  describe('backend_services_authorization', () => {
    let answered: TokenAnswer;

    /**
     * Sends a token request.
     * @param changes to the form
     */
    const ask = async (
      changes: Record<string, string> = {},
      alg: 'ES384' | 'RS384' = 'ES384',
      key = ec.privateKey,
    ) => {
      const { client_id: id } = backend;
      const assertion = await new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg, kid: alg === 'ES384' ? 'es' : 'rs', typ: 'JWT' })
        .setIssuer(id)
        .setSubject(id)
        .setAudience(`${service.url}/oauth/token`)
        .setExpirationTime('5 minutes')
        .sign(key);
      return journey.post('/oauth/token', undefined, {
        grant_type: 'client_credentials',
        scope: 'system/*.rs',
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: assertion,
        ...changes,
      });
    };

    it('smart_backend_services_invalid_grant_type', async () => {
      expect((await ask({ grant_type: 'not_a_grant_type' })).status).to.equal(400);
    });

    it('smart_backend_services_invalid_client_assertion', async () => {
      expect((await ask({ client_assertion_type: 'not_an_assertion_type' })).status).to.be.oneOf([400, 401]);
    });

    it('smart_backend_services_invalid_jwt', async () => {
      const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
      expect((await ask({}, 'ES384', other)).status).to.be.oneOf([400, 401]);
      expect((await ask({ client_assertion: 'not a jwt' })).status).to.be.oneOf([400, 401]);
    });

    it('smart_backend_services_auth_request_success', async () => {
      for (const [alg, key] of [
        ['ES384', ec.privateKey],
        ['RS384', rsa.privateKey],
      ] as const) {
        answered = await ask({}, alg, key);
        expect(answered.status, answered.text).to.equal(200);
      }
    });

    it('smart_backend_services_auth_response_body', async () => {
      expectTokenBody(answered);
      expect(answered.scope).to.equal('system/*.rs');
      expect((await journey.read(answered.access_token, '/fhir/R4/Patient')).status).to.equal(200);
    });
  });
});
