/** The identity grant: a trusted application exchanges a person's ID token for a grant (docs/spec/decisions.md, section 7). */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { decodeJwt, SignJWT } from 'jose';
import { DEV_CLIENT, DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { trust } from '#test/support/admin.ts';
import { MOTHER, startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { me } from '#test/support/me.ts';

const GRANT_TYPE = 'urn:annal:params:oauth:grant-type:identity';

describe('the identity grant', () => {
  let service: InProcess;
  let workshop: Workshop;
  let key: string;
  let client: { readonly id: string; readonly clientId: string; readonly secret: string };

  const registered = async (trusted: boolean, grantTypes = [GRANT_TYPE, 'refresh_token']) => {
    const made = await workshop.register({
      kind: 'confidential',
      scopes: ['openid', 'fhirUser', 'offline_access', 'patient/*.rs'],
      grant_types: grantTypes,
      redirect_uris: [],
    });
    if (trusted) await trust(service, made.id);
    return { id: made.id, clientId: made.client_id, secret: made.client_secret };
  };

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    client = await registered(true);
    ({ key } = await workshop.owner.done('POST', `/projects/${workshop.project}/keys`, {
      name: 'writes',
      environment: 'sandbox',
    }));
  });
  after(() => stopWorkshop(service));

  const newPatient = async (): Promise<string> => {
    const body = JSON.stringify({
      resourceType: 'Patient',
      name: [{ family: 'Sand' }],
      birthDate: '1957-03-14',
    });
    return String((await service.fhir('/Patient', { method: 'POST', body, key })).json.id);
  };
  const address = (): string => `p-${randomBytes(4).toString('hex')}@example.org`;
  const idToken = (email: string): Promise<string> =>
    new DevIssuer(service.pool, devIssuerUrl(service.url)).idToken(findPerson(email));
  const exchange = async (subjectToken: string, more: Readonly<Record<string, string>> = {}, as = client) => {
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: { Authorization: `Basic ${Buffer.from(`${as.clientId}:${as.secret}`).toString('base64')}` },
      body: new URLSearchParams({
        grant_type: GRANT_TYPE,
        subject_token: subjectToken,
        scope: 'openid fhirUser offline_access patient/*.rs',
        ...more,
      }),
    });
    return { status: response.status, json: (await response.json()) as Readonly<Record<string, string>> };
  };

  it('links a record of the own project to the person, and gives tokens that open it', async () => {
    const email = address();
    const patient = await newPatient();
    const { status, json } = await exchange(await idToken(email), { patient });
    expect(status, JSON.stringify(json)).to.equal(200);
    expect(json).to.include({ token_type: 'Bearer', scope: 'fhirUser offline_access openid patient/*.rs' });
    expect(json.patient).not.to.equal(patient);
    expect(json.id_token).to.be.a('string');
    expect(json.refresh_token).to.match(/^rt_/);
    const read = await service.fhir(`/Patient/${json.patient}`, { key: json.access_token ?? '' });
    expect(read.status).to.equal(200);
    const again = await exchange(await idToken(email), { patient: json.patient ?? '' });
    expect(again.json.patient).to.equal(json.patient);
    const alone = await exchange(await idToken(email));
    expect(alone.json.patient).to.equal(json.patient);
    // The grant is listed among the person's grants, and ends like any other.
    const mine = await me(service, email, `/patients/${patient}/grants`);
    expect(mine.json.data[0]).to.include({ id: alone.json.grant_id });
    await me(service, email, `/patients/${patient}/grants/${alone.json.grant_id}/revoke`, 'POST', {});
    const ended = await service.fhir(`/Patient/${alone.json.patient}`, {
      key: alone.json.access_token ?? '',
    });
    expect(ended.status).to.equal(401);
  });

  it('reaches the synthetic patient of a person of the development issuer', async () => {
    const { status, json } = await exchange(await idToken(MOTHER));
    expect(status, JSON.stringify(json)).to.equal(200);
    const read = await service.fhir(`/Patient/${json.patient}`, { key: json.access_token ?? '' });
    expect(read.status).to.equal(200);
  });

  it("refuses a record that is another person's, another project's, or unknown", async () => {
    const taken = await newPatient();
    expect((await exchange(await idToken(address()), { patient: taken })).status).to.equal(200);
    const foreign = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Other' }] }),
    });
    for (const patient of [taken, String(foreign.json.id), '0190a000-0000-7000-8000-000000000000', 'x']) {
      const { status, json } = await exchange(await idToken(address()), { patient });
      expect([status, json.error], patient).to.deep.equal([400, 'invalid_grant']);
    }
  });

  it('refuses ID tokens that are old or of another issuer, and starts no record without name and birth date', async () => {
    const old = await service.pool.query<{ key: string }>(
      'select private_key as key from operations.dev_issuer',
    );
    const jwk = JSON.parse(old.rows[0]?.key ?? '{}');
    const issuer = devIssuerUrl(service.url);
    const signed = (claims: Readonly<Record<string, unknown>>, seconds: number, from = issuer) =>
      import('jose').then(async ({ importJWK, calculateJwkThumbprint }) =>
        new SignJWT({ email: 'a@example.org', email_verified: true, ...claims })
          .setProtectedHeader({ alg: 'RS256', kid: await calculateJwkThumbprint(jwk) })
          .setIssuer(from)
          .setSubject(`subject-${randomBytes(4).toString('hex')}`)
          .setAudience(DEV_CLIENT)
          .setIssuedAt(Math.floor(Date.now() / 1_000) - seconds)
          .setExpirationTime('10m')
          .sign(await importJWK(jwk, 'RS256')),
      );
    for (const token of [
      await signed({}, 400),
      await signed({}, 0, 'https://elsewhere.example'),
      await signed({}, 0),
      'not-a-token',
    ]) {
      const { status, json } = await exchange(token);
      expect([status, json.error]).to.deep.equal([400, 'invalid_grant']);
    }
    const named = { given_name: 'Noor', family_name: 'Berg', birthdate: '1990-05-04' };
    const { status, json } = await exchange(await signed(named, 0));
    expect(status, JSON.stringify(json)).to.equal(200);
    const read = await service.fhir(`/Patient/${json.patient}`, { key: json.access_token ?? '' });
    expect(read.json).to.deep.include({ birthDate: '1990-05-04' });
  });

  it('starts a personal record from the claims of the development issuer, once', async () => {
    const signedIn = await fetch(`${service.url}/dev`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'colleague@example.org' }),
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    });
    const token = /eyJ[\w.-]+/.exec(await signedIn.text())?.[0] ?? '';
    expect(decodeJwt(token)).to.include({ given_name: 'Chris', family_name: 'Colleague' });
    const { status, json } = await exchange(token);
    expect(status, JSON.stringify(json)).to.equal(200);
    const read = await service.fhir(`/Patient/${json.patient}`, { key: json.access_token ?? '' });
    expect(read.json).to.deep.include({ birthDate: '1979-11-03' });
    expect(read.json.name).to.deep.equal([{ family: 'Colleague', given: ['Chris'] }]);
    const again = await exchange(token);
    expect(again.json.patient).to.equal(json.patient);
    const refreshed = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${Buffer.from(`${client.clientId}:${client.secret}`).toString('base64')}`,
      },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: again.json.refresh_token ?? '',
      }),
    });
    expect(refreshed.status).to.equal(200);
    // The record is listed among the person's records, with this grant.
    const mine = await me(service, 'colleague@example.org', '/patients?environment=sandbox');
    const own = mine.json.data.filter(({ family }) => family === 'Colleague');
    expect(own).to.have.length(1);
    const grants = await me(service, 'colleague@example.org', `/patients/${own[0]?.id}/grants`);
    expect(grants.json.data.map(({ id }) => id)).to.include(again.json.grant_id);
  });

  it('tells the names and birth dates of synthetic patients too', async () => {
    const claims = decodeJwt(await idToken(MOTHER));
    const { key: reads } = await workshop.owner.done('POST', `/projects/${workshop.project}/keys`, {
      name: 'reads',
      environment: 'sandbox',
      scopes: ['read'],
    });
    const found = await service.fhir(`/Patient?email=${MOTHER}`, { key: reads });
    expect(found.text).to.include(`"birthDate":"${claims.birthdate}"`);
    expect(found.text).to.include(`"${claims.given_name}"`).and.include(`"${claims.family_name}"`);
  });

  it('refuses offline_access without the grant type refresh_token', async () => {
    const without = await registered(true, [GRANT_TYPE]);
    const refused = await exchange(await idToken(MOTHER), {}, without);
    expect(refused.json).to.include({ error: 'invalid_scope' });
    expect(refused.json.error_description).to.include('refresh_token');
    const { json } = await exchange(await idToken(MOTHER), { scope: 'patient/*.rs' }, without);
    expect(json).to.have.property('access_token');
    expect(json).not.to.have.property('refresh_token');
  });

  it('is for trusted applications, within their scopes', async () => {
    const untrusted = await exchange(await idToken(MOTHER), {}, await registered(false));
    expect(untrusted.json.error).to.equal('unauthorized_client');
    const wide = await exchange(await idToken(MOTHER), { scope: 'patient/*.cruds' });
    expect(wide.json.error).to.equal('invalid_scope');
    const system = await exchange(await idToken(MOTHER), { scope: 'system/*.rs' });
    expect(system.json.error).to.equal('invalid_scope');
  });
});
