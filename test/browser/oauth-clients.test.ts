/** Third-party OAuth clients get tokens through the pages in a real browser, and read and search the record. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import smart from 'fhirclient';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import type { Browser } from 'playwright-core';
import { z } from 'zod';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { openBrowser } from '#test/support/browser.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { callTool, makeAssistant } from '#test/support/mcp.ts';
import { PERSON } from '#test/support/oauth-journey.ts';
import {
  AUTH_JS_PATH,
  byAuthJs,
  byOidcClientTs,
  type LibraryApplication,
  type SignedIn,
} from '#test/support/other-oauth-clients.ts';
import { portOf } from '#test/support/process.ts';

const SCOPE = 'openid fhirUser launch/patient offline_access patient/*.rs';

/** The data that an application obtained with its requests. */
interface Learned {
  readonly patient: unknown;
  readonly subject?: string | undefined;
  readonly fhirUser?: string | undefined;
  readonly refreshed: boolean;
  /** The ids of the Observations that the application found through both interfaces. */
  readonly found: Found;
}

/** Observation ids: from all pages of a search, and from a REST v1 list. */
interface Found {
  readonly fhir: readonly string[];
  readonly rest: readonly string[];
}

/** An application, as two request handlers of a web server. */
interface Application {
  readonly launch: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>;
  readonly callback: (request: IncomingMessage, response: ServerResponse, url: URL) => Promise<Learned>;
}

const bundleSchema = z.object({
  entry: z.array(
    z.object({ resource: z.object({ resourceType: z.literal('Observation'), id: z.string() }) }),
  ),
  link: z.array(z.object({ relation: z.string(), url: z.string() })),
});
const listSchema = z.object({ data: z.array(z.object({ id: z.string() })) });

const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const jwk = (key: typeof ec.publicKey, alg: string) => ({ ...key.export({ format: 'jwk' }), kid: alg, alg });

describe('OAuth clients in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  let workshop: Workshop;
  let server: Server;
  let home: string;
  let application: Application;
  let learned: Learned | undefined;
  let failure: unknown;

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    ({ service, workshop } = await startWorkshop());
    server = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    home = `http://127.0.0.1:${portOf(server)}`;
  });
  after(async () => {
    await browser?.close();
    server?.close();
    await stopWorkshop(service);
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', home);
    try {
      if (url.pathname === '/launch') await application.launch(request, response);
      else if (url.pathname.includes('/callback')) {
        learned = await application.callback(request, response, url);
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><h1>Connected</h1>');
      } else response.writeHead(404).end();
    } catch (error) {
      failure = error;
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><h1>Failed</h1>');
    }
  }

  const register = (more: object = {}) => workshop.register({ redirect_uris: [`${home}/callback`], ...more });
  const redirect = (response: ServerResponse, url: string | URL) =>
    void response.writeHead(302, { Location: String(url) }).end();

  /** Goes through the pages as a sandbox patient and allows everything. */
  async function connect(one: Application): Promise<Learned> {
    application = one;
    learned = undefined;
    failure = undefined;
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(`${home}/launch`);
      await page.getByLabel('E-mail address').fill(PERSON);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL(`${service.url}/oauth/consent?*`);
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      await page.getByRole('heading', { name: /Connected|Failed/ }).waitFor();
    } finally {
      await context.close();
    }
    if (learned === undefined) throw failure;
    return learned;
  }

  /**
   * Follows a search from page to page.
   * @param read reads a URL with the application's token
   */
  async function searched(read: (url: string) => Promise<unknown>, from: string): Promise<string[]> {
    const ids: string[] = [];
    let url: string | undefined = from;
    while (url !== undefined) {
      const bundle = bundleSchema.parse(await read(url));
      ids.push(...bundle.entry.map(({ resource }) => resource.id));
      url = bundle.link.find(({ relation }) => relation === 'next')?.url;
    }
    return ids;
  }

  /** Reads Observations through both interfaces. */
  async function observations(patient: string, read: (url: string) => Promise<unknown>): Promise<Found> {
    const list = await read(`${service.url}/v1/patients/${patient}/observations?limit=200`);
    return {
      fhir: await searched(read, `${service.url}/fhir/R4/Observation?_count=40&_sort=-date`),
      rest: listSchema.parse(list).data.map(({ id }) => id),
    };
  }

  function expectPatient({ patient, refreshed, found }: Learned): void {
    expect(found.fhir.length).to.be.greaterThan(40);
    expect(new Set(found.fhir).size).to.equal(found.fhir.length);
    expect(found.rest).to.have.length(Math.min(found.fhir.length, 200));
    expect(found.fhir).to.include.members([...found.rest]);
    expect(patient).to.have.property('resourceType', 'Patient');
    expect(patient).to.have.property('name').that.is.an('array');
    expect(refreshed).to.equal(true);
  }

  describe('fhirclient', () => {
    type Options = Parameters<ReturnType<typeof smart>['authorize']>[0];
    /**
     * Creates an application that uses the library fhirclient.
     * @param options how the application authenticates
     */
    function fhirclient(clientId: string, options: object = {}): Application {
      const kept = new Map<string, unknown>();
      const storage = {
        get: async (key: string) => kept.get(key),
        set: async (key: string, value: unknown) => {
          kept.set(key, value);
          return value;
        },
        unset: async (key: string) => kept.delete(key),
      };
      return {
        launch: (request, response) =>
          smart(request, response, storage).authorize({
            iss: `${service.url}/fhir/R4`,
            clientId,
            scope: SCOPE,
            redirectUri: `${home}/callback`,
            pkceMode: 'required',
            ...options,
          } as Options),
        async callback(request, response) {
          const client = await smart(request, response, storage).ready();
          const patient: unknown = await client.patient.read();
          const found = await observations(client.patient.id ?? '', (url) => client.request(url));
          const before = client.state.tokenResponse?.access_token;
          expect(client.getFhirUser()).to.equal(`Patient/${client.patient.id}`);
          const again: unknown = await client.request(`Patient/${client.patient.id}`);
          expect(again).to.deep.equal(patient);
          const refused = await client.refresh().then(
            () => '',
            (error: Error) => error.message,
          );
          // The library can't sign a refresh request, but confidential clients must authenticate there, too.
          if ('clientPrivateJwk' in options) expect(refused).to.contain('invalid_client');
          else expect(refused).to.equal('');
          const isNew = client.state.tokenResponse?.access_token !== before;
          return { patient, refreshed: refused !== '' || isNew, found };
        },
      };
    }

    it('public', async () => {
      const { client_id } = await register();
      expectPatient(await connect(fhirclient(client_id)));
    });

    it('confidential symmetric', async () => {
      const { client_id, client_secret } = await register({ kind: 'confidential' });
      expectPatient(await connect(fhirclient(client_id, { clientSecret: client_secret })));
    });

    for (const [alg, keys] of [
      ['ES384', ec],
      ['RS384', rsa],
    ] as const) {
      it(`confidential asymmetric, ${alg}`, async () => {
        const { client_id } = await register({
          kind: 'confidential',
          jwks: { keys: [jwk(keys.publicKey, alg)] },
        });
        expectPatient(await connect(fhirclient(client_id, { clientPrivateJwk: jwk(keys.privateKey, alg) })));
      });
    }
  });

  describe('openid-client', () => {
    function openidClient(
      clientId: string,
      secret: string | undefined,
      method: openid.ClientAuth,
    ): Application {
      const options = { execute: [openid.allowInsecureRequests] };
      const verifier = openid.randomPKCECodeVerifier();
      const state = openid.randomState();
      const nonce = openid.randomNonce();
      const configured = openid.discovery(new URL(service.url), clientId, secret, method, options);
      return {
        async launch(_, response) {
          const challenge = await openid.calculatePKCECodeChallenge(verifier);
          const url = openid.buildAuthorizationUrl(await configured, {
            redirect_uri: `${home}/callback`,
            scope: SCOPE,
            state,
            nonce,
            code_challenge: challenge,
            code_challenge_method: 'S256',
            resource: service.url,
          });
          redirect(response, url);
        },
        async callback(_, __, url) {
          const configuration = await configured;
          const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce };
          const tokens = await openid.authorizationCodeGrant(configuration, url, checks);
          const patient = `${service.url}/fhir/R4/Patient/${String(tokens.patient)}`;
          const claims = tokens.claims();
          const info = await openid.fetchUserInfo(configuration, tokens.access_token, claims?.sub ?? '');
          expect(info).to.deep.equal({ sub: claims?.sub, fhirUser: claims?.fhirUser });
          const refreshed = await openid.refreshTokenGrant(configuration, tokens.refresh_token ?? '');
          const read = async (url: string): Promise<unknown> => {
            const to = new URL(url);
            return (
              await openid.fetchProtectedResource(configuration, refreshed.access_token, to, 'GET')
            ).json();
          };
          const resource = await read(patient);
          const found = await observations(String(tokens.patient), read);
          const about = await openid.tokenIntrospection(configuration, refreshed.access_token);
          expect(about).to.include({ active: true, client_id: clientId });
          await openid.tokenRevocation(configuration, refreshed.refresh_token ?? '');
          const ended = await openid.tokenIntrospection(configuration, refreshed.access_token);
          expect(ended.active).to.equal(false);
          return {
            patient: resource,
            found,
            subject: claims?.sub,
            fhirUser: String(claims?.fhirUser),
            refreshed: refreshed.access_token !== tokens.access_token,
          };
        },
      };
    }

    const about = (one: Learned): void => {
      expectPatient(one);
      expect(one.subject).to.be.a('string').and.not.equal('');
      expect(one.fhirUser).to.match(new RegExp(`^${service.url}/fhir/R4/Patient/`));
    };

    it('public', async () => {
      const { client_id } = await register();
      about(await connect(openidClient(client_id, undefined, openid.None())));
    });

    it('client_secret_basic and client_secret_post', async () => {
      const { client_id, client_secret } = await register({ kind: 'confidential' });
      const methods = [openid.ClientSecretBasic(client_secret), openid.ClientSecretPost(client_secret)];
      for (const method of methods) about(await connect(openidClient(client_id, client_secret, method)));
    });

    it('private_key_jwt', async () => {
      const { client_id } = await register({
        kind: 'confidential',
        jwks: { keys: [jwk(ec.publicKey, 'ES384')] },
      });
      const key = await crypto.subtle.importKey(
        'jwk',
        ec.privateKey.export({ format: 'jwk' }),
        { name: 'ECDSA', namedCurve: 'P-384' },
        false,
        ['sign'],
      );
      const method = openid.PrivateKeyJwt({ key, kid: 'ES384' });
      about(await connect(openidClient(client_id, undefined, method)));
    });
  });

  it('oauth4webapi', async () => {
    const { client_id } = await register();
    const client: oauth.Client = { client_id };
    const insecure = { [oauth.allowInsecureRequests]: true };
    const issuer = new URL(service.url);
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const as = await oauth.processDiscoveryResponse(issuer, discovered);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const one = await connect({
      async launch(_, response) {
        const url = new URL(as.authorization_endpoint ?? '');
        url.search = new URLSearchParams({
          client_id,
          response_type: 'code',
          redirect_uri: `${home}/callback`,
          scope: SCOPE,
          state,
          code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        }).toString();
        redirect(response, url);
      },
      async callback(_, __, url) {
        // The library checks iss because the metadata says that it is supported (RFC 9207).
        const parameters = oauth.validateAuthResponse(as, client, url, state);
        const answered = await oauth.authorizationCodeGrantRequest(
          as,
          client,
          oauth.None(),
          parameters,
          `${home}/callback`,
          verifier,
          insecure,
        );
        const tokens = await oauth.processAuthorizationCodeResponse(as, client, answered, {
          requireIdToken: true,
        });
        const claims = oauth.getValidatedIdTokenClaims(tokens);
        const read = async (url: string): Promise<unknown> => {
          const to = new URL(url);
          const none = [undefined, undefined] as const;
          return (
            await oauth.protectedResourceRequest(tokens.access_token, 'GET', to, ...none, insecure)
          ).json();
        };
        const patient = await read(`${service.url}/fhir/R4/Patient/${String(tokens.patient)}`);
        const found = await observations(String(tokens.patient), read);
        const again = await oauth.refreshTokenGrantRequest(
          as,
          client,
          oauth.None(),
          tokens.refresh_token ?? '',
          insecure,
        );
        const next = await oauth.processRefreshTokenResponse(as, client, again);
        return {
          patient,
          found,
          subject: claims?.sub,
          refreshed: next.access_token !== tokens.access_token,
        };
      },
    });
    expectPatient(one);
    expect(one.subject).to.be.a('string');
  });

  /** Goes through the sign-in pages with a library. */
  async function signedIn(library: LibraryApplication): Promise<SignedIn> {
    let signed: SignedIn | undefined;
    const one = await connect({
      async launch(_, response) {
        redirect(response, (await library.begin()).url);
      },
      async callback(_, __, url) {
        signed = await library.finish(url);
        const read = async (at: string): Promise<unknown> =>
          (
            await fetch(at, { headers: { Authorization: `Bearer ${signed?.later ?? signed?.accessToken}` } })
          ).json();
        return {
          patient: await read(signed.fhirUser),
          found: await observations(signed.fhirUser.split('/').at(-1) ?? '', read),
          refreshed: signed.later !== signed.accessToken,
        };
      },
    });
    expectPatient(one);
    if (signed === undefined) throw new Error('nobody is signed in');
    expect(signed.subject).to.be.a('string').and.not.equal('');
    return signed;
  }

  it('oidc-client-ts', async () => {
    const { client_id } = await register({ post_logout_redirect_uris: [`${home}/`] });
    const settings = { issuer: service.url, home, clientId: client_id, scope: SCOPE };
    const { signOut } = await signedIn(byOidcClientTs(settings));
    expect(signOut?.startsWith(`${service.url}/oauth/logout?`), signOut).to.equal(true);
  });

  it('Auth.js', async () => {
    const redirect_uris = [`${home}${AUTH_JS_PATH}/callback/annal`];
    const { client_id, client_secret } = await register({ kind: 'confidential', redirect_uris });
    const settings = { issuer: service.url, home, clientId: client_id, scope: SCOPE };
    await signedIn(byAuthJs(settings, client_secret));
  });

  it('the MCP client, which lists and calls every tool', async () => {
    const { client_id } = await register();
    const assistant = makeAssistant(service.url, client_id, `${home}/callback`);
    let called: string[] = [];
    const { patient } = await connect({
      async launch(_, response) {
        redirect(response, await assistant.begin());
      },
      async callback(_, __, url) {
        const client = await assistant.finish(url);
        const { structured } = await callTool(client, 'what_may_i_do');
        called = await callEveryTool(client);
        await client.close();
        return { patient: structured.patient, refreshed: false, found: { fhir: [], rest: [] } };
      },
    });
    expect(patient).to.be.a('string').with.length(36);
    expect(called).to.have.length(13);
  });
});

/**
 * Calls every tool of a read-only assistant.
 * @returns the tools' names
 */
async function callEveryTool(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  const documents = await callTool(client, 'list_documents', { limit: 1 });
  const [document = ''] = documents.links.map((link) => /DocumentReference\/([^/]+)/.exec(link)?.[1] ?? '');
  const results = await callTool(client, 'search_record', { type: 'Observation', limit: 1 });
  const [result = ''] = results.links.map((link) => /Observation\/([^/]+)/.exec(link)?.[1] ?? '');
  const period = (year: number) => ({ from: `${year}-01-01`, to: `${year}-12-31` });
  const proposed = { resourceType: 'Condition', code: { text: 'Cough' } };
  const args: Readonly<Record<string, object>> = {
    search_record: { type: 'Condition' },
    read_resource: { type: 'Observation', id: result },
    series: { code: '4548-4' },
    compare_periods: { code: '4548-4', a: period(2023), b: period(2024) },
    lookup_code: { text: 'cough' },
    read_document: { id: document },
    propose_change: { operation: 'create', resource: proposed, rationale: 'You cough.' },
  };
  for (const { name } of tools) {
    const { isError, text } = await callTool(client, name, args[name]);
    if (name === 'propose_change') expect(text).to.contain('needs the scope patient/Condition.c');
    else expect(isError, `${name}: ${text}`).to.equal(false);
  }
  return tools.map(({ name }) => name);
}
