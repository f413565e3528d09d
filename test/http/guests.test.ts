/** Guests: clients identified by the URL of their metadata document, from the first request to the end of their access. */
import { expect } from 'chai';
import {
  answerOf,
  authorizePath,
  controlsOf,
  formOf,
  newChallenge,
  signInTo,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import { runCommand } from '#test/support/cli.ts';
import { type GuestHost, startGuestHost } from '#test/support/guest-host.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey, PERSON, type TokenAnswer } from '#test/support/oauth-journey.ts';
import { PageVisitor, type Shown } from '#test/support/page-visitor.ts';
import { wordsOf } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';

describe('guests', () => {
  let service: InProcess;
  let workshop: Workshop;
  let host: GuestHost;
  let journey: Journey;
  let signedIn: PageVisitor;

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    host = await startGuestHost();
    journey = new Journey(service.url);
    signedIn = new PageVisitor(service.url);
    await signInTo(signedIn, '/signin', PERSON);
  });

  after(async () => {
    await host?.stop();
    await stopWorkshop(service);
  });

  const SCOPE = 'offline_access openid patient/Observation.rs patient/Condition.rs';
  const pathFor = (client: string, changes: Readonly<Record<string, string | undefined>> = {}) =>
    authorizePath(client, { redirect_uri: host.callback, scope: SCOPE, ...changes });
  /** Opens a request as a signed-in person. */
  const open = (client: string, changes: Readonly<Record<string, string | undefined>> = {}) =>
    signedIn.open(pathFor(client, changes));
  /** Opens a request without following a redirect out of the service. */
  const stepTo = async (client: string, changes: Readonly<Record<string, string | undefined>>) => {
    const begun = await signedIn.step(pathFor(client, changes));
    return signedIn.step(begun.headers.get('location') ?? '');
  };
  const decide = (page: Shown, decision: string, visitor = signedIn) => {
    expect(page.status, page.text.slice(0, 2_000)).to.equal(200);
    return visitor.submit([...formOf(page), ['decision', decision]]);
  };
  const lastOf = ({ path }: Shown): URL => new URL(path.at(-1) ?? '');

  /**
   * Gets tokens for a guest.
   * @param redirect where the code is sent
   */
  async function tokensOf(client: string, redirect = host.callback): Promise<TokenAnswer> {
    const { verifier, challenge } = newChallenge();
    const page = await open(client, { code_challenge: challenge, redirect_uri: redirect });
    const answered = await decide(page, 'allow');
    const code = lastOf(answered).searchParams.get('code') ?? '';
    const answer = await journey.exchange(
      { client_id: client },
      { code, verifier },
      { redirect_uri: redirect },
    );
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  }

  it('are announced in the discovery documents', async () => {
    for (const name of ['oauth-authorization-server', 'openid-configuration', 'smart-configuration']) {
      const answer = await journey.read('', `/.well-known/${name}`);
      expect(answer.json.client_id_metadata_document_supported, name).to.equal(true);
    }
  });

  describe('go the whole way:', () => {
    let client: string;
    let page: Shown;
    let tokens: TokenAnswer;

    before(() => {
      client = host.publish('/whole.json', {
        client_name: 'Mayo\u202e Clinic\n<b>',
        logo_uri: `${host.url}/logo.png`,
        policy_uri: 'https://helper.example.org/privacy',
      });
    });

    it('GUEST-1: nobody makes the service fetch a document without signing in', async () => {
      const stranger = new PageVisitor(service.url);
      const first = await stranger.step(pathFor(client));
      expect(first.status).to.equal(303);
      const asked = await stranger.open(first.headers.get('location') ?? '');
      expect(asked.text).to.include('name="email"');
      expect((await stranger.open(pathFor(client, { prompt: 'none' }))).status).to.equal(400);
      expect(host.fetched('/whole.json')).to.equal(0);
    });

    it('GUEST-2: the page shows host and destination first, and that nobody here knows the application', async () => {
      const visitor = new PageVisitor(service.url);
      await visitor.open(pathFor(client));
      page = await visitor.submit({ email: PERSON });
      expect(host.fetched('/whole.json')).to.equal(1);
      const { host: name } = new URL(host.url);
      const words = wordsOf(page);
      expect(words).to.include(`${name} (Mayo Clinic &lt;b&gt;) asks for access`);
      const asker = page.text.slice(page.text.indexOf('<div class="asker">'));
      expect(asker).to.match(
        new RegExp(`^<div class="asker">[^]{0,80}<p class="name"><bdi>${name}</bdi></p>`),
      );
      expect(words).to.include(`a program on the device that you are using ( ${name} )`);
      expect(words).to.include('Unknown here').and.include(`Only its address, ${name} , is certain`);
      expect(page.text).not.to.include('logo.png').and.not.include('by Guests');
      expect(host.fetched('/logo.png')).to.equal(0);
      expect(controlsOf(page, 'days').map(({ value }) => value)).to.deep.equal(['30', '90']);
    });

    it('another duration is refused', async () => {
      const asked = await open(client);
      const fields = formOf(asked).filter(([name]) => name !== 'days');
      const refused = await signedIn.submit([...fields, ['days', '365'], ['decision', 'allow']]);
      expect(refused.status).to.equal(422);
    });

    it('the code becomes tokens that read what was allowed, and nothing else', async () => {
      tokens = await tokensOf(client);
      expect(tokens.scope.split(' ')).to.have.members(SCOPE.split(' '));
      const mine = await journey.read(
        tokens.access_token,
        `/v1/patients/${tokens.patient}/observations?limit=1`,
      );
      expect(mine.status, String(mine)).to.equal(200);
      expect(await journey.opens(tokens)).to.equal(200);
      const outside = await journey.read(tokens.access_token, '/fhir/R4/AllergyIntolerance');
      expect(outside.status).to.equal(403);
      const all = await journey.read(tokens.access_token, '/fhir/R4/Patient');
      expect(all.json.total).to.equal(1);
      const [, payload = ''] = tokens.id_token.split('.');
      expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).aud).to.equal(client);
      const inspected = await journey.post(
        '/oauth/introspect',
        { client_id: client },
        { token: tokens.access_token },
      );
      expect(inspected.client_id).to.equal(client);
    });

    it('a refresh token works, with and without client_id', async () => {
      const next = await journey.refresh({ client_id: client }, tokens.refresh_token);
      expect(next.status, next.text).to.equal(200);
      tokens = await journey.post('/oauth/token', undefined, {
        grant_type: 'refresh_token',
        refresh_token: next.refresh_token,
      });
      expect(tokens.status, tokens.text).to.equal(200);
    });

    it('Connections shows host, scopes and reads, and ends the access at once', async () => {
      const me = await signedIn.open('/connections');
      const [record = ''] = /\/connections\/records\/[0-9a-f-]{36}/.exec(me.text) ?? [];
      const listed = await signedIn.open(`${record}/applications`);
      const { host: name } = new URL(host.url);
      expect(wordsOf(listed)).to.include(`${name} (Mayo Clinic`).and.include('Unknown here');
      expect(wordsOf(listed)).not.to.include('by Guests');
      const [one = ''] =
        /\/connections\/records\/[0-9a-f-]{36}\/applications\/grant_[\w-]+/.exec(listed.text) ?? [];
      const shown = await signedIn.open(one);
      expect(wordsOf(shown)).to.include('Read your').and.include('Unknown here');
      await signedIn.open(`${one}/end`);
      await signedIn.submit({ note: '' });
      expect(await journey.opens(tokens)).to.equal(401);
    });

    it('prompt=none answers a guest that is registered', async () => {
      const silent = await open(client, { prompt: 'none' });
      expect(lastOf(silent).searchParams.get('error')).to.equal('consent_required');
    });
  });

  describe('redirect', () => {
    it('GUEST-3: to any port of a loopback address of their document', async () => {
      const client = host.publish('/loopback.json', {
        redirect_uris: ['http://127.0.0.1/back?x=1', 'http://localhost:7777/back', 'http://[::1]:1/back'],
      });
      for (const uri of ['http://127.0.0.1:50123/back?x=1', 'http://localhost:1/back', 'http://[::1]/back']) {
        const page = await open(client, { redirect_uri: uri });
        expect(page.status, uri).to.equal(200);
        const denied = await stepTo(client, { redirect_uri: uri, response_type: 'token' });
        expect(denied.headers.get('location'), uri).to.match(
          new RegExp(`^${uri.replace(/[[\]?]/g, '\\$&')}[?&]error=`),
        );
      }
      for (const uri of [
        'http://127.0.0.1:50123/back',
        'http://127.0.0.1:50123/back?x=2',
        'http://127.0.0.1:50123/other?x=1',
        'http://127.0.0.2:50123/back?x=1',
        'https://localhost:7777/back',
        'http://localhost:7777@evil.example/back',
        'http://localhost.evil.example/back',
        'http://localhost:123456/back',
        'http://evil.example/back',
      ]) {
        const page = await stepTo(client, { redirect_uri: uri });
        expect(page.status, uri).to.equal(400);
        expect(page.text).to.include('redirect_uri differs');
      }
    });

    it('GUEST-4: with the exact URI in the exchange of the code', async () => {
      const client = host.publish('/exact.json', {
        redirect_uris: [`${host.url.replace(/:\d+$/, '')}/callback`],
      });
      const { verifier, challenge } = newChallenge();
      const answered = await decide(await open(client, { code_challenge: challenge }), 'allow');
      const code = lastOf(answered).searchParams.get('code') ?? '';
      const other = { redirect_uri: 'http://localhost:1/callback' };
      const refused = await journey.exchange({ client_id: client }, { code, verifier }, other);
      expect(refused.error).to.equal('invalid_grant');
    });

    it('on any port only as guests: a registered application keeps its port', async () => {
      const { client_id } = await workshop.register({ redirect_uris: ['http://127.0.0.1:7777/back'] });
      const page = await signedIn.step(
        authorizePath(client_id, { redirect_uri: 'http://127.0.0.1:8888/back' }),
      );
      expect(page.status).to.equal(400);
    });
  });

  describe('ask for', () => {
    it('GUEST-5: scopes that they name, at most those of their document', async () => {
      const errorOf = async (client: string, scope: string | undefined) =>
        answerOf(await stepTo(client, { scope })).get('error');
      const free = host.publish('/free.json');
      expect(await errorOf(free, undefined)).to.equal('invalid_scope');
      expect(await errorOf(free, 'system/*.rs')).to.equal('invalid_scope');
      const narrow = host.publish('/narrow.json', { scope: 'patient/Observation.rs mcp:tools system/*.rs' });
      expect(await errorOf(narrow, 'patient/Observation.rs')).to.equal(null);
      expect(await errorOf(narrow, 'patient/Condition.rs')).to.equal('invalid_scope');
      const codeOnly = host.publish('/code-only.json', { grant_types: undefined });
      expect(await errorOf(codeOnly, 'patient/Observation.rs offline_access')).to.equal('invalid_scope');
    });

    it('GUEST-6: nothing at the endpoints that need more than a public client', async () => {
      const client = host.publish('/endpoints.json');
      await open(client);
      const grant = (fields: Readonly<Record<string, string>>, path = '/oauth/token') =>
        journey.post(path, { client_id: client }, fields);
      expect((await grant({ grant_type: 'client_credentials' })).error).to.equal('unauthorized_client');
      const ciba = await grant({ scope: 'openid', login_hint: PERSON }, '/oauth/bc-authorize');
      expect(ciba.status).to.be.within(400, 401);
      const secret = await journey.post(
        '/oauth/token',
        { client_id: client, client_secret: 'cs_guess' },
        { grant_type: 'client_credentials' },
      );
      expect(secret.error).to.equal('invalid_client');
    });
  });

  describe('are refused, on a page, for', () => {
    const refuses = async (client: string, detail: string | RegExp) => {
      const page = await open(client);
      expect(page.status, page.text.slice(0, 500)).to.equal(400);
      expect(page.text).to.include('be used with this service. Nothing was shared.');
      expect(page.headers.get('content-security-policy')).to.include("form-action 'none'");
      const words = wordsOf(page);
      if (typeof detail === 'string') expect(words).to.include(detail);
      else expect(words).to.match(detail);
    };

    const BAD = 'every redirect_uri must be https on the host of the document';
    const documents: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
      ['another client_id', { client_id: 'https://claude.ai/client.json' }, 'client_id differs'],
      ['no client_id', { client_id: undefined }, 'client_id is missing'],
      ['no redirect URIs', { redirect_uris: undefined }, 'redirect_uris must be a list'],
      ['an empty list of them', { redirect_uris: [] }, 'redirect_uris is empty'],
      ["another host's redirect URI", { redirect_uris: ['https://evil.example/cb'] }, BAD],
      ['a redirect URI that runs a script', { redirect_uris: ['javascript:alert(1)'] }, BAD],
      ['a data: redirect URI', { redirect_uris: ['data:text/html,x'] }, BAD],
      ['a private-use scheme', { redirect_uris: ['org.example.app:/back'] }, BAD],
      ['http on another host', { redirect_uris: ['http://192.168.1.7/cb'] }, BAD],
      ['a redirect URI with a user', { redirect_uris: ['http://localhost@evil.example/'] }, BAD],
      ['a wildcard', { redirect_uris: ['http://localhost/*'] }, BAD],
      ['a fragment', { redirect_uris: ['http://localhost/#x'] }, BAD],
      ['a secret', { client_secret: 'hush' }, 'client_secret must not be in the document'],
      ['a confidential client', { token_endpoint_auth_method: 'private_key_jwt' }, 'must be none'],
      ['no grant type', { grant_types: ['client_credentials'] }, 'must contain authorization_code'],
      ['the implicit flow', { response_types: ['token'] }, 'response_types must contain code'],
    ];
    for (const [index, [what, members, detail]] of documents.entries()) {
      it(what, async () => refuses(host.publish(`/hostile-${index}.json`, members), detail));
    }

    it('GUEST-7: a redirect', async () => {
      host.answer('/moved.json', (response) => response.writeHead(302, { Location: '/free.json' }).end());
      await refuses(`${host.url}/moved.json`, 'returned 302');
    });

    it('GUEST-8: a document that is too long, too slow, broken, or no JSON', async () => {
      await refuses(host.publish('/long.json', { x: 'x'.repeat(66_000) }), 'longer than 65536 bytes');
      host.answer('/slow.json', (response) => void response.writeHead(200).write('{'));
      await refuses(`${host.url}/slow.json`, /timeout|aborted/);
      host.answer('/broken.json', (response) =>
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{'),
      );
      await refuses(`${host.url}/broken.json`, 'the metadata document');
      await refuses(
        host.publish('/text.json', {}, { 'Content-Type': 'text/plain' }),
        'must be application/json',
      );
      await refuses(`${host.url}/nothing.json`, 'returned 204');
    }).timeout(20_000);

    it('GUEST-9: an address that is not public, or a URL of another form', async () => {
      await refuses('https://10.0.0.1/client.json', 'an address that is not public');
      await refuses('https://localhost/client.json', 'an address that is not public');
      await refuses('http://127.0.0.1/client.json', 'must begin with https://');
      await refuses('http://claude.ai/client.json', 'must begin with https://');
      await refuses('https://claude.ai/', 'must have a path');
      await refuses('https://claude.ai', 'must have a path');
      await refuses('https://user@claude.ai/client.json', 'a user or password');
      await refuses('https://claude.ai/a/../client.json', 'as browsers write it');
      await refuses('https://CLAUDE.ai/client.json', 'as browsers write it');
      await refuses('https://claude.ai/client.json#x', 'fragment');
    });

    it('GUEST-10: a host with too many new documents in a day', async () => {
      const { hostname } = new URL(host.url);
      const before = 'update operations.guest_host set documents = $2 where host = $1';
      const known = host.publish('/known.json');
      expect((await open(known)).status).to.equal(200);
      await service.pool.query(before, [hostname, 1_000]);
      await refuses(host.publish('/one-more.json'), 'too many metadata documents');
      expect(host.fetched('/one-more.json')).to.equal(0);
      expect((await open(known)).status).to.equal(200);
      await service.pool.query(before, [hostname, 1]);
    });
  });

  describe('change with their documents', () => {
    const expire = (client: string) =>
      service.pool.query(
        "update operations.guest_document set fresh_until = now() - interval '1 second' where client_id = $1",
        [client],
      );

    it('which are fetched again when their headers say so', async () => {
      const client = host.publish('/cached.json', {}, { 'Cache-Control': 'public, max-age=3600' });
      const tokens = await tokensOf(client);
      await open(client);
      expect(host.fetched('/cached.json')).to.equal(1);
      host.publish('/cached.json', { client_name: 'Renamed', redirect_uris: ['http://localhost/new'] });
      expect((await open(client)).status).to.equal(200);
      await expire(client);
      expect((await open(client)).status).to.equal(400);
      const page = await open(client, { redirect_uri: 'http://localhost:5/new' });
      expect(wordsOf(page)).to.include('(Renamed) asks for access');
      expect(host.fetched('/cached.json')).to.equal(2);
      // What a person has allowed remains allowed.
      expect(await journey.opens(tokens)).to.equal(200);
      const { rows } = await service.pool.query(
        'select fresh_until < now() + $2::interval as soon from operations.guest_document where client_id = $1',
        [client, '61 seconds'],
      );
      expect(rows).to.deep.equal([{ soon: true }]);
    });

    it('which are one application each, however many people come at once', async () => {
      const client = host.publish('/many.json');
      await Promise.all(Array.from({ length: 5 }, () => open(client)));
      const { rows } = await service.pool.query(
        'select count(*)::int as registered from projects.application where client_id = $1',
        [client],
      );
      expect(rows).to.deep.equal([{ registered: 1 }]);
    });
  });

  describe('belong to no customer:', () => {
    let client: string;
    let id: string;

    before(async () => {
      client = host.publish('/mine.json');
      await tokensOf(client);
      const { rows } = await service.pool.query('select id from projects.application where client_id = $1', [
        client,
      ]);
      id = String(rows[0]?.id);
    });

    it('GUEST-11: no route of /admin shows them, their project or their organization', async () => {
      const paths = [
        `/applications/${id}/scopes`,
        `/applications/${id}/consent-page`,
        '/projects/proj_guests',
        '/projects/proj_guests/applications',
        '/projects/proj_guests/keys',
        '/organizations/org_guests',
        '/organizations/org_guests/members',
        '/organizations/org_guests/projects',
      ];
      const wanted = await Promise.all(
        paths.map(async (path) => [path, (await workshop.owner.ask('GET', path)).status]),
      );
      expect(wanted.filter(([, status]) => status !== 404)).to.deep.equal([]);
      for (const method of ['PATCH', 'DELETE'])
        expect((await workshop.owner.ask(method, `/applications/${id}`, {})).status, method).to.equal(404);
      const own = await workshop.owner.done('GET', `/projects/${workshop.project}/applications`);
      expect(JSON.stringify(own)).not.to.include(id);
      const listed = await workshop.owner.done('GET', '/organizations');
      expect(JSON.stringify(listed)).not.to.include('org_guests');
    });

    it('guests of two hosts know a patient by different ids, those of one host by the same', async () => {
      const same = await tokensOf(host.publish('/second.json'));
      const again = await tokensOf(client);
      expect(same.patient).to.equal(again.patient);
      const { client_id } = await workshop.register({ redirect_uris: [host.callback] });
      const registered = await tokensOf(client_id);
      expect(registered.patient).not.to.equal(same.patient);
      expect(
        (await journey.read(same.access_token, `/fhir/R4/Patient/${registered.patient}`)).status,
      ).to.equal(404);
    });
  });

  describe('are the operator’s to list and block:', () => {
    const annal = (...args: string[]) =>
      runCommand(['applications', ...args], { DATABASE_URL: service.databaseUrl });

    it('--guests lists them', async () => {
      const client = host.publish('/listed.json', { client_name: 'Listed' });
      await tokensOf(client);
      const { code, stdout } = await annal('--guests', '--json');
      expect(code).to.equal(0);
      const { data } = JSON.parse(stdout) as { data: Record<string, unknown>[] };
      const own = data.find(({ client_id }) => client_id === client);
      expect(own).to.include({ host: 'localhost', environment: 'sandbox', grants: 1 });
      expect((await annal('--guests')).stdout).to.match(/localhost +localhost:\d+ \(Listed\)/);
      expect((await annal('trust')).code).not.to.equal(0);
      expect((await annal('block')).code).not.to.equal(0);
      expect((await annal('--guests', 'trust', 'app_x')).code).not.to.equal(0);
    });

    it('GUEST-12: block ends their access and refuses new requests, until unblock', async () => {
      const client = host.publish('/blocked.json');
      const tokens = await tokensOf(client);
      const waiting = await open(client);
      expect((await annal('block', 'LOCALHOST')).stdout).to.include('localhost is blocked');
      await eventually(async () => (await journey.opens(tokens)) === 401);
      expect((await journey.refresh({ client_id: client }, tokens.refresh_token)).status).to.be.within(
        400,
        401,
      );
      const refused = await signedIn.submit([...formOf(waiting), ['decision', 'allow']]);
      expect(refused.status).to.equal(400);
      expect(wordsOf(refused)).to.include('has blocked the host of client_id');
      expect((await open(client)).status).to.equal(400);
      expect(JSON.parse((await annal('--guests', '--json')).stdout)).to.deep.include({
        data: [],
        blocked: ['localhost'],
      });
      await eventually(async () => {
        const { rows } = await service.pool.query(
          'select end_reason from consents.grants where grant_id = $1',
          [tokens.grant_id],
        );
        return rows[0]?.end_reason === 'application_deleted';
      });
      expect((await annal('unblock', 'localhost')).stdout).to.include('is not blocked');
      await eventually(async () => (await open(client)).status === 200);
      expect(await journey.opens(tokens)).to.equal(401);
      expect(await journey.opens(await tokensOf(client))).to.equal(200);
    });
  });
});
