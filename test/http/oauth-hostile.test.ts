/** The authorization server under attack: what a hostile client, application or visitor sends, and what must not happen. */
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'chai';
import { issueCode } from '#src/oauth/tokens/codes.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const REDIRECT = 'https://app.example/callback';

interface Registered extends Application {
  readonly clientId: string;
  readonly secret: string;
}

describe('the authorization server under attack', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let project: string;
  let client: Registered;

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    ({ id: project } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' }));
    client = await register();
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  async function register(): Promise<Registered> {
    const made = await owner.done('POST', `/projects/${project}/applications`, {
      name: 'Hearty',
      kind: 'confidential',
      redirect_uris: [REDIRECT],
      scopes: ['patient/*.rs', 'offline_access', 'system/*.rs'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    return {
      applicationId: made.id,
      project,
      environment: 'sandbox',
      clientId: made.client_id,
      secret: made.client_secret,
    };
  }
  async function allow(application: Application = client, scopes = ['patient/*.rs']): Promise<Allowed> {
    const made = await service.post('/Patient', { resourceType: 'Patient' });
    return granting.allow(application, String(made.json.id), { scopes });
  }
  async function ask(endpoint: string, fields: Record<string, string>, of: Registered = client) {
    const body = new URLSearchParams({ client_id: of.clientId, client_secret: of.secret, ...fields });
    const response = await fetch(`${service.url}/oauth/${endpoint}`, { method: 'POST', body });
    return { status: response.status, json: (await response.json()) as Record<string, string> };
  }
  const codeFor = async (allowed: Allowed, scope = 'patient/*.rs offline_access') => {
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const code = await issueCode(service.pool, {
      client: allowed.application,
      grantId: allowed.data.grant_id,
      record: allowed.record,
      redirectUri: REDIRECT,
      challenge,
      scope,
      resources: [],
    });
    if (code === undefined) throw new Error('the grant has ended');
    const fields = {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    };
    return fields;
  };
  const works = async ({ patient }: Allowed, token: string | undefined) =>
    (await service.fhir(`/Patient/${patient}`, { key: token ?? '' })).status === 200;

  /** Sends a request as raw bytes, which `fetch` would not. */
  function raw(lines: readonly string[], body = ''): Promise<string> {
    const { port, host } = new URL(service.url);
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1');
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => {
        text += part;
      });
      socket.on('end', () => resolve(text)).on('error', reject);
      const [first = '', ...headers] = lines;
      const all = [first, `Host: ${host}`, ...headers, `Content-Length: ${body.length}`, 'Connection: close'];
      socket.write(`${all.join('\r\n')}\r\n\r\n${body}`);
    });
  }
  const form = 'Content-Type: application/x-www-form-urlencoded';
  const basic = (id: string, secret: string) =>
    `Authorization: Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

  it('refuses two Authorization headers, whichever comes first, at tokens and at APIs', async () => {
    const [right, wrong] = [basic(client.clientId, client.secret), basic('client_test_x', 'y')];
    for (const headers of [
      [right, wrong],
      [wrong, right],
    ]) {
      const answer = await raw(
        ['POST /oauth/token HTTP/1.1', form, ...headers],
        'grant_type=client_credentials',
      );
      expect(answer)
        .to.match(/^HTTP\/1\.1 400 /)
        .and.to.contain('"invalid_request"');
    }
    const allowed = await allow();
    const own = `Authorization: Bearer ${service.key}`;
    const granted = `Authorization: Bearer ${allowed.token}`;
    for (const headers of [
      [own, granted],
      [granted, own],
    ])
      expect(await raw(['GET /fhir/R4/Observation HTTP/1.1', ...headers])).to.match(/^HTTP\/1\.1 400 /);
  });

  it('counts a client id that no database takes as a failure like any other', async () => {
    for (const id of ['client_test_\0', `${client.clientId}\0`, 'client_test_ü']) {
      const { status, json } = await ask('token', { grant_type: 'client_credentials', client_id: id });
      expect([status, json.error], id).to.deep.equal([401, 'invalid_client']);
    }
    const { rows } = await service.pool.query<{ n: number }>(
      "select cardinality(failed_at) as n from operations.client_failure where key like 'address %'",
    );
    expect(rows[0]?.n).to.be.at.least(3);
  });

  it('uses up a code, whatever the exchange sends beside it', async () => {
    const allowed = await allow();
    for (const broken of [
      { redirect_uri: '\0' },
      { redirect_uri: 'x'.repeat(50_000) },
      { code_verifier: '\0'.repeat(43) },
      { resource: '\0' },
      { resource: `${service.url}.evil.example/fhir/R4` },
    ]) {
      const fields = await codeFor(allowed);
      const first = await ask('token', { ...fields, ...broken });
      expect(first.status, JSON.stringify(first.json)).to.equal(400);
      const again = await ask('token', fields);
      expect([again.status, again.json.error], JSON.stringify(broken)).to.deep.equal([400, 'invalid_grant']);
    }
  });

  it('gives tokens to one of twenty that exchange a code at once, and ends them for the others', async () => {
    const allowed = await allow();
    const fields = await codeFor(allowed);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('token', fields)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given).to.have.length(1);
    expect(await works(allowed, given[0]?.json.access_token)).to.equal(false);
    const { refresh_token = '' } = given[0]?.json ?? {};
    expect((await ask('token', { grant_type: 'refresh_token', refresh_token })).status).to.equal(400);
  });

  it('leaves nothing alive of a refresh token that twenty use at once', async () => {
    const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
    const { json } = await ask('token', await codeFor(allowed));
    const { refresh_token = '' } = json;
    const fields = { grant_type: 'refresh_token', refresh_token };
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask('token', fields)));
    const given = answers.filter(({ status }) => status === 200);
    expect(given.length).to.be.at.most(1);
    for (const { json: tokens } of [{ json }, ...given]) {
      expect(await works(allowed, tokens.access_token)).to.equal(false);
      const next = await ask('token', {
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token ?? '',
      });
      expect(next.status).to.equal(400);
    }
  });

  it('leaves nothing alive of a chain that is refreshed and revoked at once', async () => {
    const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
    for (let n = 0; n < 8; n += 1) {
      const { json } = await ask('token', await codeFor(allowed));
      const token = json.refresh_token ?? '';
      const [next, revoked] = await Promise.all([
        ask('token', { grant_type: 'refresh_token', refresh_token: token }),
        ask('revoke', { token }),
      ]);
      expect(revoked.status).to.equal(200);
      for (const { access_token, refresh_token = 'rt_x' } of [json, next.json]) {
        expect(await works(allowed, access_token)).to.equal(false);
        expect((await ask('token', { grant_type: 'refresh_token', refresh_token })).status).to.equal(400);
      }
    }
  });

  it('gives no token that outlives a grant which ends during the exchange', async () => {
    for (let n = 0; n < 5; n += 1) {
      const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
      const fields = await codeFor(allowed);
      const [{ json }] = await Promise.all([ask('token', fields), granting.revoke(allowed)]);
      expect(await works(allowed, json.access_token)).to.equal(false);
      const { refresh_token = 'rt_x' } = json;
      expect((await ask('token', { grant_type: 'refresh_token', refresh_token })).status).to.equal(400);
    }
  });

  it('gives a client nothing for what is another’s, and tells it nothing', async () => {
    const other = await register();
    const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
    const fields = await codeFor(allowed);
    const { json } = await ask('token', fields);
    const { refresh_token = '', access_token = '' } = json;
    for (const [endpoint, sent] of [
      ['token', { grant_type: 'refresh_token', refresh_token }],
      ['token', await codeFor(allowed)],
    ] as const) {
      const mine = await ask(endpoint, sent, other);
      const unknown = await ask(endpoint, { ...sent, refresh_token: 'rt_x', code: 'x' }, other);
      expect(mine).to.deep.equal(unknown);
    }
    for (const token of [refresh_token, access_token, 'at_x'])
      expect(await ask('revoke', { token }, other)).to.deep.equal({ status: 200, json: {} });
    expect(await works(allowed, access_token)).to.equal(true);
    expect((await ask('token', { grant_type: 'refresh_token', refresh_token })).status).to.equal(200);
  });

  it('takes tokens of one kind for no other', async () => {
    const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
    const fields = await codeFor(allowed);
    const { json } = await ask('token', fields);
    const { refresh_token = '', access_token = '' } = json;
    for (const credential of [refresh_token, fields.code, client.secret, client.clientId]) {
      expect(await works(allowed, credential)).to.equal(false);
      const answer = await fetch(`${service.url}/v1/patients`, {
        headers: { Authorization: `Bearer ${credential}` },
      });
      expect(answer.status).to.equal(401);
    }
    for (const wrong of [access_token, fields.code, service.key]) {
      const answer = await ask('token', { grant_type: 'refresh_token', refresh_token: wrong });
      expect([answer.status, answer.json.error]).to.deep.equal([400, 'invalid_grant']);
    }
    for (const code of [access_token, refresh_token])
      expect((await ask('token', { ...fields, code })).json.error).to.equal('invalid_grant');
  });

  it('reads parameters from the form alone, and no cookie', async () => {
    const query = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: client.clientId,
      client_secret: client.secret,
    });
    const answer = await fetch(`${service.url}/oauth/token?${query}`, {
      method: 'POST',
      headers: { Cookie: `client_secret=${client.secret}; annal_session=${'A'.repeat(43)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: client.clientId }),
    });
    expect(answer.status).to.equal(401);
    expect(answer.headers.get('set-cookie')).to.equal(null);
  });

  it('ignores Idempotency-Key: a code is used once, and no answer is kept', async () => {
    const headers = { 'Idempotency-Key': 'again' };
    const body = () =>
      new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: client.clientId,
        client_secret: client.secret,
      });
    const send = async () =>
      (await fetch(`${service.url}/oauth/token`, { method: 'POST', headers, body: body() })).json();
    const [first, second] = [await send(), await send()] as { access_token: string }[];
    expect(first?.access_token).to.match(/^at_/).and.not.equal(second?.access_token);
    const { rowCount } = await service.pool.query('select from operations.idempotency');
    const before = rowCount;
    await send();
    expect((await service.pool.query('select from operations.idempotency')).rowCount).to.equal(before);
  });

  it('writes no secret, code or token into its log', async () => {
    const allowed = await allow(client, ['patient/*.rs', 'offline_access']);
    const fields = await codeFor(allowed);
    const { json } = await ask('token', fields);
    await ask('token', fields);
    await ask('token', { grant_type: 'refresh_token', refresh_token: `${json.refresh_token}x` });
    await ask('token', { grant_type: 'client_credentials', client_secret: 'wrong-secret-1234567890' });
    await fetch(
      `${service.url}/signin/callback/0123456789abcdef?code=${fields.code}&state=${'s'.repeat(43)}`,
    );
    await works(allowed, json.access_token);
    const log = service.log.join('\n');
    for (const secret of [
      ...[client.secret, fields.code, fields.code_verifier, json.access_token, json.refresh_token],
      'wrong-secret-1234567890',
      allowed.record,
      allowed.data.person.subject,
    ])
      expect(log.includes(String(secret)), String(secret).slice(0, 4)).to.equal(false);
  });
});
