/** Two instances on one database: discovery, revocation, refresh and key rotation (docs/oauth.md). */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { decodeProtectedHeader } from 'jose';
import { SigningKeys } from '#src/oauth/signing-keys.ts';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  formOf,
  MOTHER,
  newChallenge,
  signInTo,
  startWorkshop,
} from '#test/support/authorization.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const SCOPE = 'openid fhirUser launch/patient offline_access patient/*.rs';

type Tokens = Readonly<Record<string, string>>;

describe('two instances of the authorization server', () => {
  let one: InProcess;
  let other: SecondInstance;
  let clientId: string;

  before(async () => {
    const started = await startWorkshop();
    one = started.service;
    other = await startSecondInstance(one);
    ({ client_id: clientId } = await started.workshop.register());
  });

  after(async () => {
    await other?.close();
    await one?.stop();
    await removeTemporaryFolders();
  });

  const post = async (url: string, path: string, form: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams({ client_id: clientId, ...form });
    const response = await fetch(`${url}/oauth/${path}`, { method: 'POST', body });
    return { status: response.status, json: (await response.json()) as Tokens };
  };
  const issued = async (url: string): Promise<Tokens> => {
    const { verifier, challenge } = newChallenge();
    const visitor = new PageVisitor(one.url);
    const page = await signInTo(
      visitor,
      authorizePath(clientId, { scope: SCOPE, code_challenge: challenge }),
      MOTHER,
    );
    const code = answerOf(await visitor.submit([...formOf(page), ['decision', 'allow']])).get('code') ?? '';
    const { json } = await post(url, 'token', {
      grant_type: 'authorization_code',
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    });
    return json;
  };
  const refresh = (url: string, { refresh_token: token = '' }: Tokens) =>
    post(url, 'token', { grant_type: 'refresh_token', refresh_token: token });
  const statusAt = async (url: string, { access_token, patient }: Tokens): Promise<number> => {
    const headers = { Authorization: `Bearer ${access_token}` };
    const response = await fetch(`${url}/fhir/R4/Patient/${patient}`, { headers });
    await response.arrayBuffer();
    return response.status;
  };

  it('refuse a token at once that the other has revoked', async () => {
    const tokens = await issued(other.url);
    expect(await statusAt(one.url, tokens)).to.equal(200);
    expect((await post(other.url, 'revoke', { token: tokens.refresh_token ?? '' })).status).to.equal(200);
    expect(await statusAt(one.url, tokens)).to.equal(401);
    expect((await refresh(one.url, tokens)).json).to.include({ error: 'invalid_grant' });
  });

  it('give tokens to exactly one of parallel refreshes at both', async () => {
    const tokens = await issued(one.url);
    const all = await Promise.all(
      [one.url, other.url, one.url, other.url].map((url) => refresh(url, tokens)),
    );
    expect(all.filter(({ status }) => status === 200)).to.have.length(1);
    expect(all.filter(({ json }) => json.error === 'invalid_grant')).to.have.length(3);
    const won = all.find(({ status }) => status === 200)?.json ?? {};
    for (const url of [one.url, other.url]) expect(await statusAt(url, won)).to.equal(401);
  });

  it('sign with the same key before and after its rotation', async () => {
    const kidAt = async (url: string) => decodeProtectedHeader((await issued(url)).id_token ?? '').kid;
    const published = async (url: string) => {
      const { keys } = (await (await fetch(`${url}/oauth/jwks`)).json()) as { keys: { kid: string }[] };
      return keys.map(({ kid }) => kid);
    };
    const before = await kidAt(one.url);
    expect(await kidAt(other.url)).to.equal(before);
    const [next] = await new SigningKeys(one.pool).rotate();
    for (const url of [one.url, other.url]) {
      expect(await published(url)).to.deep.equal([next?.kid, before]);
      expect(await kidAt(url)).to.equal(before);
    }
    await one.pool.query('update operations.signing_key set signs_from = now() where kid = $1', [next?.kid]);
    for (const url of [one.url, other.url]) expect(await kidAt(url)).to.equal(next?.kid);
  });
});

describe('discovery', () => {
  const BASE = 'https://records.example.org/annal';
  let service: InProcess;
  let at: string;
  before(async () => {
    service = await startInProcess({}, { BASE_URL: BASE, DEV_ISSUER: 'allow' });
    at = service.base.replace(/\/fhir\/R4$/, '');
  });
  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  /** Reads a document at the path where the service serves it: a proxy would remove the path of BASE_URL. */
  const read = async (path: string) => {
    const response = await fetch(`${at}${path}`, { headers: { Origin: 'https://app.example' } });
    expect(response.headers.get('access-control-allow-origin'), path).to.equal('*');
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  it('states the same endpoints in every document', async () => {
    const endpoints = {
      issuer: BASE,
      authorization_endpoint: `${BASE}/oauth/authorize`,
      token_endpoint: `${BASE}/oauth/token`,
      revocation_endpoint: `${BASE}/oauth/revoke`,
      introspection_endpoint: `${BASE}/oauth/introspect`,
      jwks_uri: `${BASE}/oauth/jwks`,
      code_challenge_methods_supported: ['S256'],
    };
    for (const path of [
      '/.well-known/smart-configuration',
      '/fhir/R4/.well-known/smart-configuration',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ]) {
      const { status, json } = await read(path);
      expect(status, path).to.equal(200);
      expect(json, path).to.deep.include(endpoints);
    }
    const openid = (await read('/.well-known/openid-configuration')).json;
    expect(openid).to.deep.include({
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256'],
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
    const smart = (await read('/.well-known/smart-configuration')).json;
    expect(smart.capabilities).to.include.members([
      'launch-standalone',
      'client-confidential-asymmetric',
      'permission-v1',
    ]);
    expect(smart.capabilities).not.to.include.oneOf(['launch-ehr', 'permission-online']);
    expect(smart).not.to.have.any.keys('registration_endpoint', 'pushed_authorization_request_endpoint');
  });

  it('names each resource, and its document in the challenge', async () => {
    for (const path of ['', '/fhir/R4', '/v1']) {
      const { json } = await read(`/.well-known/oauth-protected-resource${path}`);
      expect(json).to.deep.include({ resource: BASE + path, authorization_servers: [BASE] });
    }
    for (const [path, metadata] of [
      ['/fhir/R4/Patient', '/fhir/R4'],
      ['/v1/patients', '/v1'],
      ['/admin/organizations', undefined],
      ['/me/patients', undefined],
    ] as const) {
      const response = await fetch(at + path);
      expect(response.status).to.equal(401);
      await response.arrayBuffer();
      expect(response.headers.get('www-authenticate')).to.equal(
        metadata === undefined
          ? 'Bearer realm="annal"'
          : `Bearer realm="annal", resource_metadata="${BASE}/.well-known/oauth-protected-resource${metadata}"`,
      );
    }
  });

  it('has the endpoints in the CapabilityStatement', async () => {
    const { json } = await read('/fhir/R4/metadata');
    const [rest] = json.rest as { security: Record<string, unknown> }[];
    expect(rest?.security.extension).to.deep.equal([
      {
        url: 'http://fhir-registry.smarthealthit.org/StructureDefinition/oauth-uris',
        extension: ['authorize', 'token', 'introspect', 'revoke'].map((url) => ({
          url,
          valueUri: `${BASE}/oauth/${url}`,
        })),
      },
    ]);
    expect(JSON.stringify(rest?.security.service)).to.include('SMART-on-FHIR');
  });

  it('answers the documents of a base with a path below the host, too', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server/annal',
      '/.well-known/openid-configuration/annal',
    ]) {
      // fetch checks responses against the OpenAPI document, which doesn't list these paths without the path of BASE_URL.
      const [response] = (await once(get(`${at}${path}`), 'response')) as [IncomingMessage];
      expect(response.statusCode, path).to.equal(200);
      const { issuer } = JSON.parse((await response.toArray()).join('')) as { issuer: string };
      expect(issuer).to.equal(BASE);
    }
  });
});
