/** How clients authenticate: each method, what is refused, and the limit on failures. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { SignJWT } from 'jose';
import { ASSERTION_TYPE } from '#src/oauth/client-assertion.ts';
import { openClientAuthentication } from '#src/oauth/client-authentication.ts';
import { openClients } from '#src/oauth/clients.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { customerHosts } from '#src/shared/customer-hosts.ts';
import { type AdminJson, type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { portOf } from '#test/support/process.ts';

const BASE = {
  name: 'Portal',
  kind: 'confidential',
  redirect_uris: ['https://portal.example/back'],
  scopes: ['patient/*.rs', 'system/*.rs'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
};
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const RSA = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS384' };
const EC = { ...ec.publicKey.export({ format: 'jwk' }), kid: 'ec' };

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});
/** Claims that replace the default claims; undefined omits a claim. */
type Claims = Readonly<Record<string, unknown>>;
const form = (members: Record<string, string>) => new URLSearchParams(members);

describe('client authentication', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;
  let authenticate: ReturnType<typeof openClientAuthentication>;
  let another: ReturnType<typeof openClientAuthentication>;
  let secret: AdminJson;
  let open: AdminJson;
  let signing: AdminJson;
  let addresses = 0;
  const from = () => {
    addresses += 1;
    return { address: `192.0.2.${addresses}` };
  };
  const register = (more: object = {}) =>
    owner.done('POST', `/projects/${project}/applications`, { ...BASE, ...more });

  /** Opens a separate instance on the same database. */
  const instance = () =>
    openClientAuthentication({
      findClient: openClients(service.pool),
      pool: service.pool,
      baseUrl: service.url,
      hosts: customerHosts(false),
    });

  const faultOf = async (
    headers: { authorization?: string },
    members: Record<string, string> | URLSearchParams,
    where = from(),
    by = authenticate,
  ): Promise<OAuthError> => {
    const body = members instanceof URLSearchParams ? members : form(members);
    try {
      await by(headers, body, where);
    } catch (error) {
      if (error instanceof OAuthError) return error;
      throw error;
    }
    throw new Error('the client was authenticated');
  };

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    ({
      project: { id: project },
    } = await owner.done('POST', '/sandbox/quickstart', {}));
    [authenticate, another] = [instance(), instance()];
    secret = await register();
    open = await register({ kind: 'public', grant_types: ['authorization_code'] });
    signing = await register({ jwks: { keys: [RSA, EC] } });
  });
  after(() => service.stop());
  beforeEach(() => service.pool.query('delete from operations.client_failure'));

  it('none: a public client says its client_id', async () => {
    const client = await authenticate({}, form({ client_id: open.client_id }), from());
    expect(client).to.include({ applicationId: open.id, kind: 'public', project });
  });

  it('client_secret_basic: id and secret, form-urlencoded', async () => {
    const { client_id: id, client_secret: own } = secret;
    const escaped = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('');
    for (const header of [basic(id, own), basic(escaped(id), escaped(own))])
      expect(await authenticate(header, form({}), from())).to.include({ clientId: id });
    const lower = { authorization: basic(id, own).authorization.replace('Basic', 'basic') };
    expect(await authenticate(lower, form({ client_id: id }), from())).to.include({ clientId: id });
  });

  it('client_secret_post: in the form', async () => {
    const { client_id, client_secret } = secret;
    const client = await authenticate({}, form({ client_id, client_secret }), from());
    expect(client).to.include({ clientId: client_id });
  });

  it('takes the secret before until its overlap ends', async () => {
    const made = await register();
    const rotate = (overlap_hours: number) =>
      owner.done('POST', `/applications/${made.id}/secrets`, { overlap_hours });
    const works = async ({ client_secret }: AdminJson) =>
      authenticate(basic(made.client_id, client_secret), form({}), from()).then(
        () => true,
        () => false,
      );
    const second = await rotate(1);
    expect(await Promise.all([made, second].map(works))).to.deep.equal([true, true]);
    const third = await rotate(0);
    expect(await Promise.all([made, second, third].map(works))).to.deep.equal([false, false, true]);
  });

  it('CLIENT-3: answers 401 invalid_client with a Basic challenge, the same for unknown clients and wrong secrets', async () => {
    const faults = [
      await faultOf(basic(secret.client_id, 'cs_wrong'), {}),
      await faultOf(basic('client_test_unknown', secret.client_secret), {}),
      await faultOf({}, { client_id: secret.client_id, client_secret: 'cs_wrong' }),
      await faultOf({}, { client_id: 'client_test_unknown' }),
      await faultOf(basic(open.client_id, 'x'), {}),
      await faultOf(basic(signing.client_id, ''), {}),
    ];
    for (const fault of faults) {
      expect(fault).to.include({ error: 'invalid_client', status: 401 });
      expect(fault.headers['WWW-Authenticate']).to.match(/^Basic realm=/);
      expect(fault.body).to.deep.equal(faults[0]?.body);
    }
  });

  it('CLIENT-1: refuses a confidential client that does not authenticate', async () => {
    for (const { client_id } of [secret, signing]) {
      const fault = await faultOf({}, { client_id });
      expect(fault).to.include({ error: 'invalid_client', status: 401 });
      expect(fault.headers['WWW-Authenticate']).to.match(/^Basic realm=/);
    }
    expect(await faultOf({}, {})).to.include({ error: 'invalid_client', status: 401 });
  });

  it('finds a public client by its refresh token alone; a confidential one must authenticate', async () => {
    const add = async (application: AdminJson, token: string) => {
      await service.pool.query(
        `insert into operations.oauth_token
           (sha256, kind, application_id, project, environment, scope, resource, issued_at, expires_at)
         values (sha256($1), 'refresh', $2, $3, 'sandbox', '', '{}', now(), now() + interval '1 hour')`,
        [Buffer.from(token), application.id, project],
      );
      return { grant_type: 'refresh_token', refresh_token: token };
    };
    const own = await add(open, 'rt_open');
    expect(await authenticate({}, form(own), from())).to.include({ clientId: open.client_id });
    const bound = await add(secret, 'rt_bound');
    expect(await faultOf({}, bound)).to.include({ error: 'invalid_client', status: 401 });
    for (const members of [
      { ...own, refresh_token: 'rt_unknown' },
      { ...own, grant_type: 'authorization_code' },
      { ...own, client_secret: 'x' },
    ])
      expect(await faultOf({}, members)).to.include({ error: 'invalid_client', status: 401 });
  });

  it('CLIENT-2: refuses two methods in one request, and credentials of two clients', async () => {
    const { client_id, client_secret } = secret;
    const assertion = {
      client_assertion: await signed(signing.client_id, rsa.privateKey, 'RS384', 'rsa'),
      client_assertion_type: ASSERTION_TYPE,
    };
    const header = basic(client_id, client_secret);
    for (const [headers, members] of [
      [header, { client_id, client_secret }],
      [header, assertion],
      [{}, { client_id, client_secret, ...assertion }],
      [header, { client_id: open.client_id }],
      [{}, { client_id, ...assertion }],
    ] as const)
      expect(await faultOf(headers, members)).to.include({ error: 'invalid_request', status: 400 });
    const twice = new URLSearchParams([
      ['client_id', client_id],
      ['client_id', open.client_id],
    ]);
    expect(await faultOf({}, twice)).to.include({ error: 'invalid_request' });
  });

  it('refuses malformed Basic headers', async () => {
    const encoded = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    for (const header of [
      { authorization: 'Basic' },
      { authorization: 'Basic !!!' },
      { authorization: `Bearer ${secret.client_secret}` },
      encoded('no colon'),
      encoded(`${secret.client_id}:%zz`),
      encoded(`:${secret.client_secret}`),
      { authorization: `Basic ${'A'.repeat(3_000)}` },
    ])
      expect(await faultOf(header, {}), header.authorization.slice(0, 30)).to.include({
        error: 'invalid_client',
      });
  });

  const signed = (
    sub: string,
    key: KeyObject,
    alg: string,
    kid: string | undefined,
    claims: Claims = {},
    header: object = {},
  ) => {
    const now = Math.floor(Date.now() / 1_000);
    const all: Claims = {
      iss: sub,
      sub,
      aud: `${service.url}/oauth/token`,
      exp: now + 240,
      jti: randomUUID(),
      ...claims,
    };
    return new SignJWT(Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)))
      .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }), typ: 'JWT', ...header })
      .sign(key);
  };
  const post = (assertion: string) => ({
    client_assertion: assertion,
    client_assertion_type: ASSERTION_TYPE,
  });
  const sign = (claims: Claims = {}, header: object = {}) =>
    signed(signing.client_id, rsa.privateKey, 'RS384', 'rsa', claims, header);

  it('private_key_jwt: RS384 and ES384 of registered keys, for the token endpoint or the issuer', async () => {
    const { client_id } = signing;
    for (const assertion of [
      await sign(),
      await sign({ aud: service.url }),
      await sign({ aud: [service.url, `${service.url}/oauth/token`] }),
      await signed(client_id, ec.privateKey, 'ES384', 'ec'),
    ]) {
      expect(await authenticate({}, form(post(assertion)), from())).to.include({ clientId: client_id });
    }
    const named = form({ ...post(await sign()), client_id });
    expect(await authenticate({}, named, from())).to.include({ clientId: client_id });
  });

  const wrong: [string, () => Promise<string>, RegExp][] = [
    [
      'of another key',
      () => signed(signing.client_id, other.privateKey, 'RS384', 'rsa'),
      /not a valid signed/,
    ],
    ['of an unknown kid', () => sign({}, { kid: 'none' }), /no registered key/],
    ['of an algorithm that the key is not for', () => sign({}, { alg: 'RS256' }), /no registered key/],
    ['for another audience', () => sign({ aud: 'https://other.example/token' }), /aud/],
    ['for another audience beside this', () => sign({ aud: [service.url, 'https://other.example'] }), /aud/],
    ['for none', () => sign({ aud: undefined }), /aud/],
    ['that has expired', () => sign({ exp: Math.floor(Date.now() / 1_000) - 60 }), /expired/],
    ['that lasts over five minutes', () => sign({ exp: Math.floor(Date.now() / 1_000) + 330 }), /5 minutes/],
    ['without exp', () => sign({ exp: undefined }), /exp/],
    ['without jti', () => sign({ jti: undefined }), /jti/],
    ['with a numeric jti', () => sign({ jti: 5 }), /jti/],
    ['with a list as jti', () => sign({ jti: ['a'] }), /jti/],
    ['with a null jti', () => sign({ jti: null }), /jti/],
    ['with an empty jti', () => sign({ jti: '' }), /jti/],
    ['with a number in aud', () => sign({ aud: [service.url, 5] }), /aud/],
    ['with an object as aud', () => sign({ aud: {} }), /aud/],
    ['with text as exp', () => sign({ exp: String(Math.floor(Date.now() / 1_000) + 60) }), /exp/],
    ['with text as iat', () => sign({ iat: 'now' }), /iat/],
    ['with text as nbf', () => sign({ nbf: 'now' }), /nbf/],
    ['with a number as iss', () => sign({ iss: 5 }), /iss/],
    ['issued in the future', () => sign({ iat: Math.floor(Date.now() / 1_000) + 60 }), /iat/],
    ['that begins in the future', () => sign({ nbf: Math.floor(Date.now() / 1_000) + 60 }), /nbf/],
    ['of another issuer', () => sign({ iss: open.client_id }), /iss/],
    ['of another type', () => sign({}, { typ: 'at+jwt' }), /typ/],
    ['that names other keys', () => sign({}, { jku: 'https://evil.example/jwks' }), /jku/],
    ['of a client without keys', () => sign({ sub: secret.client_id, iss: secret.client_id }), /no keys/],
    ['of another form', async () => 'x.y.z', /not a JWT/],
  ];
  for (const [what, make, says] of wrong) {
    it(`private_key_jwt: refuses an assertion ${what}`, async () => {
      const fault = await faultOf({}, post(await make()));
      expect(fault).to.include({ error: 'invalid_client', status: 401 });
      expect(fault.description).to.match(says);
    });
  }

  it('CLIENT-6: private_key_jwt: refuses an assertion for another server, and one that lasts over five minutes', async () => {
    const ahead = Math.floor(Date.now() / 1_000) + 330;
    for (const claims of [{ aud: `${service.url}.evil.example` }, { exp: ahead }])
      expect(await faultOf({}, post(await sign(claims)))).to.include({ error: 'invalid_client' });
  });

  it('CLIENT-7: private_key_jwt: refuses alg none, and HMAC with the public key', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const sub = signing.client_id;
    const claims = { iss: sub, sub, aud: service.url, exp: Math.floor(Date.now() / 1_000) + 60, jti: '1' };
    const none = `${part({ alg: 'none' })}.${part(claims)}.`;
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' });
    const hmac = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', kid: 'rsa' })
      .sign(Buffer.from(pem));
    for (const assertion of [none, hmac])
      expect(await faultOf({}, post(assertion))).to.include({ error: 'invalid_client' });
  });

  it('private_key_jwt: takes an assertion without kid only where one key could be meant', async () => {
    const assertion = await signed(signing.client_id, rsa.privateKey, 'RS384', undefined);
    expect(await authenticate({}, form(post(assertion)), from())).to.include({
      clientId: signing.client_id,
    });
    const second = { ...other.publicKey.export({ format: 'jwk' }), kid: 'second' };
    const { client_id } = await register({ jwks: { keys: [RSA, second] } });
    const fault = await faultOf({}, post(await signed(client_id, rsa.privateKey, 'RS384', undefined)));
    expect(fault.description).to.contain('several registered keys');
  });

  it('private_key_jwt: refuses another client_assertion_type', async () => {
    const fault = await faultOf({}, { client_assertion: await sign(), client_assertion_type: 'jwt' });
    expect(fault).to.include({ error: 'invalid_request' });
  });

  it('CLIENT-5: private_key_jwt: takes each jti once, among parallel requests on two instances', async () => {
    const body = form(post(await sign()));
    const outcomes = await Promise.allSettled(
      [authenticate, another, authenticate, another].map((by) => by({}, body, from())),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason.description).to.contain('used before');
    expect((await faultOf({}, body)).description).to.contain('used before');
  });

  describe('with keys at jwks_uri', () => {
    let server: Server;
    let keys: object[] = [RSA];
    let uri: string;
    before(async () => {
      server = createServer((_, response) => response.end(JSON.stringify({ keys })));
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      uri = `http://127.0.0.1:${portOf(server)}/jwks`;
    });
    after(() => new Promise((done) => server.close(done)));

    it('CLIENT-8: fetches them, skips keys that it cannot use, and takes jku only if it is that address', async () => {
      keys = [{ kty: 'oct', k: 'AAAA' }, { kty: 'EC', crv: 'secp256k1', x: 'a', y: 'b' }, RSA];
      const { client_id } = await register({ jwks_uri: uri });
      const make = (header: object) => signed(client_id, rsa.privateKey, 'RS384', 'rsa', {}, header);
      for (const header of [{}, { jku: uri }])
        expect(await authenticate({}, form(post(await make(header))), from())).to.include({
          clientId: client_id,
        });
      const fault = await faultOf({}, post(await make({ jku: `${uri}?x` })));
      expect(fault.description).to.contain('jku');
    });

    it('CLIENT-9: reaches public addresses only, in production', async () => {
      const { client_id } = await register({ jwks_uri: uri });
      const guarded = openClientAuthentication({
        findClient: openClients(service.pool),
        pool: service.pool,
        baseUrl: service.url,
      });
      const assertion = await signed(client_id, rsa.privateKey, 'RS384', 'rsa');
      const fault = await faultOf({}, post(assertion), from(), guarded);
      expect(fault.description).to.contain('could not be fetched');
    });
  });

  describe('after 20 failures of a client from an address in a minute', () => {
    const guess = (id: string, where: { address: string }, by = authenticate) =>
      faultOf(basic(id, `cs_${randomUUID()}`), {}, where, by);

    it('CLIENT-4: refuses the client from that address on every instance, also with the right secret', async () => {
      const made = await register();
      const where = from();
      for (let n = 0; n < 20; n += 1)
        expect((await guess(made.client_id, where, n % 2 ? authenticate : another)).status).to.equal(401);
      const right = basic(made.client_id, made.client_secret);
      for (const by of [authenticate, another]) {
        const fault = await faultOf(right, {}, where, by);
        expect(fault).to.include({ status: 429, error: 'temporarily_unavailable' });
        expect(Number(fault.headers['Retry-After'])).to.be.within(1, 60);
      }
      expect(await authenticate(basic(secret.client_id, secret.client_secret), form({}), where)).to.include({
        clientId: secret.client_id,
      });
      await service.pool.query(
        "update operations.client_failure set failed_at = array(select t - interval '61 s' from unnest(failed_at) t), last_at = last_at - interval '61 s'",
      );
      expect(await authenticate(right, form({}), where)).to.include({ clientId: made.client_id });
    });

    it('never keeps a client out that fails at other addresses only, however often', async () => {
      const made = await register();
      const right = basic(made.client_id, made.client_secret);
      for (const where of [from(), from(), from()])
        await Promise.all(Array.from({ length: 25 }, () => guess(made.client_id, where)));
      expect(await authenticate(right, form({}), from())).to.include({ clientId: made.client_id });
    });

    it('counts unknown clients as it counts known ones', async () => {
      const where = from();
      for (let n = 0; n < 20; n += 1)
        expect((await guess('client_test_unknown', where)).status).to.equal(401);
      expect((await guess('client_test_unknown', where)).status).to.equal(429);
      expect((await guess('client_test_other', where)).status).to.equal(401);
    });

    it('refuses an address after 100 failures, whatever client it names', async () => {
      const where = from();
      const right = basic(secret.client_id, secret.client_secret);
      const spread = async (from: number, to: number) => {
        for (let n = from; n < to; n += 1)
          expect((await guess(`client_test_unknown${n % 10}`, where)).status).to.equal(401);
      };
      await spread(0, 99);
      expect(await authenticate(right, form({}), where)).to.include({ clientId: secret.client_id });
      await spread(99, 100);
      expect((await faultOf(right, {}, where)).status).to.equal(429);
      expect((await faultOf({}, {}, where)).status, 'names no client').to.equal(429);
      expect(await authenticate(right, form({}), from())).to.include({ clientId: secret.client_id });
    });

    it('counts parallel failures, and removes old rows', async () => {
      const made = await register();
      const where = from();
      const faults = await Promise.all(
        Array.from({ length: 30 }, (_, n) => guess(made.client_id, where, n % 2 ? authenticate : another)),
      );
      const by = (status: number) => faults.filter((fault) => fault.status === status).length;
      expect([by(401), by(429)]).to.deep.equal([20, 10]);
      await service.pool.query("update operations.client_failure set last_at = now() - interval '2 minutes'");
      await guess('client_test_unknown', from());
      const { rows } = await service.pool.query('select count(*)::int as n from operations.client_failure');
      expect(rows[0].n).to.equal(2);
    });
  });
});
