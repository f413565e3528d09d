/**
 * A service whose issuer is a real OpenID Connect provider: what its ID tokens give access to, and what a refused person is
 * told.
 */
import { expect } from 'chai';
import type { JWTPayload } from 'jose';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { CLIENT, startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('a service with an issuer of its own', () => {
  let issuer: TestIssuer;
  let service: InProcess;

  before(async () => {
    issuer = await startIssuer();
    service = await startInProcess({}, { OIDC_ISSUERS: `${issuer.url} ${CLIENT}`, MODE: 'production' });
  });

  after(async () => {
    await service.stop();
    await issuer.stop();
    await removeTemporaryFolders();
  });

  const admin = (key: string | null, headers: Record<string, string> = {}) =>
    service.fhir(`${service.url}/admin/config`, { key, headers });

  const claims = (changes: JWTPayload = {}): JWTPayload => {
    const seconds = Math.floor(Date.now() / 1000);
    return { iss: issuer.url, aud: CLIENT, sub: 'ada', iat: seconds, exp: seconds + 600, ...changes };
  };

  it('takes the ID token of who has signed in there', async () => {
    const answer = await admin(await issuer.signIn('ada'));
    expect(answer.status, String(answer)).to.equal(200);
  });

  it('says why it refuses one, in the body and in the challenge, without repeating it', async () => {
    const token = await issuer.sign(claims({ exp: 1_700_000_000 }));
    const answer = await admin(token);
    expect(answer.status).to.equal(401);
    const reason = 'the ID token expired at 2023-11-14T22:13:20Z';
    expect(answer.json.error).to.include({ type: 'unauthenticated', message: reason });
    expect(answer.headers.get('www-authenticate')).to.equal(
      `Bearer realm="annal", error="invalid_token", error_description="${reason}"`,
    );
    expect(service.log.join('')).not.to.include(token.slice(-40));
  });

  it('takes it beside no other credential, and not from the query', async () => {
    const token = await issuer.sign(claims());
    const both = await admin(token, { 'X-Api-Key': service.key });
    expect(both.status).to.equal(400);
    const inQuery = await service.fhir(`${service.url}/admin/config?access_token=${token}`, { key: null });
    expect(inQuery.status).to.equal(400);
    expect((await admin(null)).status).to.equal(401);
    const basic = await admin(null, { Authorization: 'Basic YTpi' });
    expect(basic.status).to.equal(401);
  });

  it('takes none in X-Api-Key, which is for keys', async () => {
    const token = await issuer.sign(claims());
    for (const path of ['/admin/config', '/me/patients', '/v1/patients', '/fhir/R4/Patient']) {
      for (const headers of [
        { 'X-Api-Key': token },
        { 'X-Api-Key': token, Authorization: `Bearer ${token}` },
      ]) {
        const answer = await fetch(service.url + path, { headers });
        expect(answer.status, path).to.equal(401);
        expect(answer.headers.get('www-authenticate'), path).to.contain('error="invalid_token"');
      }
    }
  });

  it('tells a credential that works, but not here, from one that works nowhere', async () => {
    const ask = (path: string, headers: Record<string, string>) =>
      service.fhir(service.url + path, { key: null, headers });
    const revoked = await service.newProject();
    await service.pool.query(
      "update projects.api_key set revoked_at = 1 where sha256 = encode(sha256($1::bytea), 'hex')",
      [Buffer.from(revoked)],
    );
    for (const path of ['/admin/config', '/admin/organizations', '/me/patients', '/me/muted-applications']) {
      for (const headers of [{ 'X-Api-Key': service.key }, { Authorization: `Bearer ${service.key}` }]) {
        const answer = await ask(path, headers);
        expect(answer.status, path).to.equal(403);
        expect(answer.text).to.include(
          'API keys are for /fhir/R4 and /v1; this interface requires an ID token',
        );
      }
      const other = await ask(path, { 'X-Api-Key': revoked });
      expect([other.status, other.headers.get('www-authenticate')], path).to.deep.equal([
        401,
        'Bearer realm="annal", error="invalid_token"',
      ]);
    }
    const valid = await issuer.sign(claims());
    const old = await issuer.sign(claims({ exp: 1_700_000_000 }));
    for (const path of ['/v1/patients', '/v1/webhooks', '/fhir/R4/Patient', '/fhir/R4/Patient/x']) {
      const answer = await ask(path, { Authorization: `Bearer ${valid}` });
      expect(answer.status, path).to.equal(403);
      expect(answer.text).to.include('this interface requires an API key');
      expect((await ask(path, { Authorization: `Bearer ${old}` })).status, path).to.equal(401);
    }
    const written = await service.fhir('/Patient', {
      method: 'POST',
      key: valid,
      body: '{"resourceType":"Patient"}',
    });
    expect(written.status).to.equal(403);
    expect((await ask('/oauth/userinfo', { Authorization: `Bearer ${valid}` })).status).to.equal(403);
  });

  it('takes one as long as headers may be', async () => {
    const long = await issuer.sign(claims({ groups: 'x'.repeat(8_000) }));
    expect((await admin(long)).status).to.equal(200);
  });

  it('answers 503 with Retry-After while the issuer is away and its keys are unknown', async () => {
    const other = await startInProcess({}, { OIDC_ISSUERS: `${issuer.url} ${CLIENT}` });
    try {
      issuer.fail(502);
      const token = await issuer.sign(claims());
      const answer = await other.fhir(`${other.url}/admin/config`, { key: token });
      expect(answer.status).to.equal(503);
      expect(answer.headers.get('retry-after')).to.equal('10');
      await other.logged('the keys of an issuer could not be fetched');
      expect((await admin(token)).status).to.equal(200);
    } finally {
      issuer.fail(undefined);
      await other.stop();
    }
  });
});
