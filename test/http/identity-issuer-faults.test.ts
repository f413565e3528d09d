/** Issuers that return invalid answers never cause a 500, and their tokens are never accepted. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect } from 'chai';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { Verifier } from '#src/identity/verify.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { portOf } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const DISCOVERY = '/.well-known/openid-configuration';

describe('issuers that answer wrongly', () => {
  let keys: CryptoKeyPair;

  before(async () => {
    keys = await generateKeyPair('ES256');
  });

  /** Checks a token of an issuer that answers in the given way. Returns the refusal and what the operator is told. */
  async function ask(answer: (url: string) => RequestListener): Promise<{ refusal: Refusal; told: string }> {
    const server = createServer((request, response) => answer(url)(request, response)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${portOf(server)}`;
    const told: string[] = [];
    const verifier = new Verifier({
      issuers: [{ issuer: url, audiences: ['annal'] }],
      onAway: (_, { message }) => told.push(message),
    });
    const token = await new SignJWT({ sub: 'ada' })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer(url)
      .setAudience('annal')
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(keys.privateKey);
    try {
      await verifier.verify(token);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return { refusal: error, told: told.join() };
    } finally {
      server.closeAllConnections();
      server.close();
    }
    throw new Error('the token was taken');
  }

  const serving =
    (documents: (url: string) => Readonly<Record<string, string>>) =>
    (url: string): RequestListener =>
    (request, response) => {
      const document = documents(url)[request.url ?? ''];
      response.writeHead(document === undefined ? 404 : 200).end(document);
    };
  const describing = (changes: (url: string) => object, jwks = '{"keys":[]}') =>
    serving((url) => ({
      [DISCOVERY]: JSON.stringify({ issuer: url, jwks_uri: `${url}/jwks`, ...changes(url) }),
      '/jwks': jwks,
    }));

  itAtFullSize('are away: 503, and the operator hears why', async () => {
    const cases: [(url: string) => RequestListener, RegExp][] = [
      [serving(() => ({})), /returned 404$/],
      [serving(() => ({ [DISCOVERY]: '<html>' })), /JSON/],
      [serving(() => ({ [DISCOVERY]: '[]' })), /is not a valid discovery document$/],
      [describing((url) => ({ issuer: `${url}/` })), /names another issuer$/],
      [describing(() => ({ issuer: 'https://login.example.org' })), /names another issuer$/],
      [describing(() => ({ jwks_uri: 'http://keys.example.org/' })), /is not https$/],
      [describing(() => ({ jwks_uri: 'file:///etc/hostname' })), /is not https$/],
      [describing(() => ({}), '{"keys":7}'), /is not a valid key set$/],
      [describing(() => ({}), JSON.stringify({ keys: [], more: 'x'.repeat(300_000) })), /longer than/],
      [(url) => (_, response) => response.writeHead(302, { Location: `${url}/x` }).end(), /returned 302$/],
      [() => (request) => request.socket.destroy(), /./],
      // A response that begins but never ends.
      [() => (_, response) => void response.writeHead(200).write('{'), /./],
      [() => () => undefined, /./],
    ];
    await Promise.all(
      cases.map(async ([answer, message]) => {
        const { refusal, told } = await ask(answer);
        expect([refusal.status, refusal.headers['Retry-After']], told).to.deep.equal([503, '10']);
        expect(told).to.match(message);
      }),
    );
  });

  it('publish no such key, or one that cannot be used: 401', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const good = await exportJWK(publicKey);
    const sets: [object[], RegExp][] = [
      [[], /does not publish/],
      [[{ ...good, kid: 'other' }], /does not publish/],
      [[{ kty: 'oct', k: 'c2VjcmV0', kid: 'k' }], /does not publish/],
      [[{ ...good, kid: 'k', use: 'enc' }], /does not publish/],
      [[{ ...good, kid: 'k' }], /signature/],
      [[{ ...good, kid: 'k', x: 'AA' }], /unusable key/],
      [[{ ...(await exportJWK(privateKey)), kid: 'k' }], /unusable key/],
    ];
    for (const [set, reason] of sets) {
      const { refusal } = await ask(describing(() => ({}), JSON.stringify({ keys: set })));
      expect(refusal.status, refusal.message).to.equal(401);
      expect(refusal.message).to.match(reason);
    }
  });
});
