/** `/oauth/token`, `/oauth/revoke`, `/oauth/introspect` and `/oauth/jwks`, after consent on the real page. */
import { expect } from 'chai';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  formOf,
  MOTHER,
  newChallenge,
  openWorkshop,
  signInTo,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';

const PATIENTS = 3;
const SCOPE = 'openid fhirUser launch/patient offline_access patient/*.rs';

type Form = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

describe('the OAuth endpoints for clients', () => {
  let service: InProcess;
  let workshop: Workshop;
  let publicId: string;
  let confidential: { readonly id: string; readonly secret: string };

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    publicId = (await workshop.register()).client_id;
    const made = await workshop.register({
      kind: 'confidential',
      scopes: ['openid', 'patient/*.rs', 'offline_access'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    confidential = { id: made.client_id, secret: made.client_secret };
  });

  after(() => stopWorkshop(service));

  const post = async (path: string, form: Form, headers: Readonly<Record<string, string>> = {}) => {
    const pairs = Array.isArray(form) ? form.map(([name, value]) => [name, value]) : Object.entries(form);
    const body = new URLSearchParams(pairs);
    const response = await fetch(`${service.url}/oauth/${path}`, { method: 'POST', body, headers });
    const json = (await response.json()) as Readonly<Record<string, unknown>>;
    return { status: response.status, headers: response.headers, json };
  };
  const token = (form: Form, headers?: Readonly<Record<string, string>>) => post('token', form, headers);
  const basic = ({ id, secret } = confidential) => ({
    Authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  });

  /** Gives consent on the page, and returns the form that exchanges the code. */
  const consented = async (changes: Readonly<Record<string, string>> = {}) => {
    const { verifier, challenge } = newChallenge();
    const visitor = new PageVisitor(service.url);
    const path = authorizePath(publicId, { scope: SCOPE, code_challenge: challenge, ...changes });
    const page = await signInTo(visitor, path, MOTHER);
    const code = answerOf(await visitor.submit([...formOf(page), ['decision', 'allow']])).get('code') ?? '';
    return {
      grant_type: 'authorization_code',
      client_id: publicId,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
    };
  };
  const issued = async (changes?: Readonly<Record<string, string>>) => {
    const answer = await token(await consented(changes));
    expect(answer.status, JSON.stringify(answer.json)).to.equal(200);
    return answer.json as Readonly<Record<string, string>> & { readonly expires_in: number };
  };
  const refreshForm = (refreshToken = '') => ({
    grant_type: 'refresh_token',
    client_id: publicId,
    refresh_token: refreshToken,
  });
  const patientWith = (answer: Readonly<Record<string, unknown>>) =>
    service.fhir(`/Patient/${answer.patient}`, { key: String(answer.access_token) });

  it('exchange a code for tokens that open the Patient, once', async () => {
    const form = await consented();
    const { status, headers, json } = await token(form);
    expect(status).to.equal(200);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('pragma')).to.equal('no-cache');
    expect(json).to.include({
      token_type: 'Bearer',
      expires_in: 1800,
      scope: 'fhirUser launch/patient offline_access openid patient/*.rs',
    });
    expect(json.grant_id).to.match(/^grant_/);
    const patient = await patientWith(json);
    expect(patient.status).to.equal(200);
    expect(patient.json.id).to.equal(json.patient);
    const again = await token(form);
    expect(again.status).to.equal(400);
    expect(again.json).to.have.property('error', 'invalid_grant');
    expect(again.headers.get('cache-control')).to.equal('no-store');
    expect(again.headers.get('pragma')).to.equal('no-cache');
    const ended = await patientWith(json);
    expect(ended.status).to.equal(401);
    expect(ended.headers.get('www-authenticate')).to.equal(
      `Bearer realm="annal", error="invalid_token", resource_metadata="${service.url}/.well-known/oauth-protected-resource/fhir/R4"`,
    );
    expect((await token(refreshForm(String(json.refresh_token)))).json).to.have.property(
      'error',
      'invalid_grant',
    );
  });

  it('sign an ID token whose key is in the key set', async () => {
    const answer = await issued();
    const keys = createRemoteJWKSet(new URL(`${service.url}/oauth/jwks`));
    const { payload } = await jwtVerify(answer.id_token ?? '', keys, {
      issuer: service.url,
      audience: publicId,
    });
    expect(payload.fhirUser).to.equal(`${service.url}/fhir/R4/Patient/${answer.patient}`);
    expect(payload.auth_time).to.be.a('number');
    expect(payload.sub).not.to.contain('@');
  });

  it('use up a code whose exchange fails', async () => {
    const faults: [Readonly<Record<string, string>>, string][] = [
      [{ code_verifier: newChallenge().verifier }, 'invalid_grant'],
      [{ code_verifier: '' }, 'invalid_request'],
      [{ redirect_uri: 'https://diary.example.org/other' }, 'invalid_grant'],
      [{ resource: 'https://elsewhere.example/fhir' }, 'invalid_target'],
    ];
    for (const [change, error] of faults) {
      const form = await consented();
      const refused = await token({ ...form, ...change });
      expect(refused.json, JSON.stringify(change)).to.have.property('error', error);
      expect((await token(form)).json).to.have.property('error', 'invalid_grant');
    }
  });

  it('rotate refresh tokens, narrow scopes and never widen them', async () => {
    const first = await issued({ scope: 'launch/patient offline_access patient/Observation.rs' });
    const second = await token({ ...refreshForm(first.refresh_token), scope: 'patient/Observation.r' });
    expect(second.json).to.have.property('scope', 'patient/Observation.r');
    const wider = await token({ ...refreshForm(String(second.json.refresh_token)), scope: 'patient/*.rs' });
    expect(wider.json).to.have.property('error', 'invalid_scope');
    const third = await token(refreshForm(String(second.json.refresh_token)));
    expect(third.json).to.have.property('scope', 'launch/patient offline_access patient/Observation.rs');
    const reused = await token(refreshForm(first.refresh_token));
    expect(reused.status).to.equal(400);
    expect(reused.json).to.have.property('error', 'invalid_grant');
    expect((await token(refreshForm(String(third.json.refresh_token)))).json).to.have.property('error');
    expect((await patientWith(third.json)).status).to.equal(401);
    await service.logged('a used refresh token was presented again');
  });

  it('bind tokens to resources', async () => {
    const answer = await issued({ resource: `${service.url}/v1` });
    expect((await patientWith(answer)).status).to.equal(401);
    const form = { ...refreshForm(answer.refresh_token), resource: `${service.url}/fhir/R4` };
    expect((await token(form)).json).to.have.property('error', 'invalid_target');
    const { json } = await token(refreshForm(answer.refresh_token));
    expect(json).to.have.property('refresh_token');
  });

  it("revoke an access token alone, a refresh token with its chain, and nothing of others'", async () => {
    const answer = await issued();
    const revoke = (value = '', headers = {}, more = {}) =>
      post('revoke', { token: value, ...more }, headers);
    const other = await revoke(answer.refresh_token, basic());
    expect(other).to.deep.include({ status: 200, json: {} });
    expect((await revoke('rt_unknown', {}, { client_id: publicId })).status).to.equal(200);
    expect((await patientWith(answer)).status).to.equal(200);
    await revoke(answer.access_token, {}, { client_id: publicId, token_type_hint: 'refresh_token' });
    expect((await patientWith(answer)).status).to.equal(401);
    const next = (await token(refreshForm(answer.refresh_token))).json;
    expect((await patientWith(next)).status).to.equal(200);
    await revoke(String(next.refresh_token), {}, { client_id: publicId });
    expect((await patientWith(next)).status).to.equal(401);
    expect((await revoke('', {}, { client_id: publicId })).json).to.have.property('error', 'invalid_request');
  });

  it('describe tokens to their client and to confidential clients of the project', async () => {
    const answer = await issued();
    const described = async (value = '', headers = {}, more = {}) =>
      (await post('introspect', { token: value, ...more }, headers)).json;
    const access = await described(answer.access_token, basic());
    expect(access).to.deep.include({
      active: true,
      client_id: publicId,
      scope: answer.scope,
      token_type: 'Bearer',
      patient: answer.patient,
      iss: service.url,
      aud: [service.url],
      fhirUser: `${service.url}/fhir/R4/Patient/${answer.patient}`,
    });
    expect(await described(answer.refresh_token, {}, { client_id: publicId })).to.include({ active: true });
    expect(await described('at_unknown', basic())).to.deep.equal({ active: false });
    const other = (await (await openWorkshop(service)).register()).client_id;
    expect(await described(answer.access_token, {}, { client_id: other })).to.deep.equal({ active: false });
    const cors = await fetch(`${service.url}/oauth/introspect`, {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Method': 'POST' },
    });
    expect(cors.headers.get('access-control-allow-origin')).to.equal(null);
  });

  it('give an application tokens of its own, which work like its API keys', async () => {
    const form = { grant_type: 'client_credentials' };
    const { json } = await token(form, basic());
    expect(json).to.include({ scope: 'system/*.cruds', token_type: 'Bearer', expires_in: 1800 });
    expect(json).not.to.have.any.keys('refresh_token', 'patient', 'id_token');
    const key = String(json.access_token);
    const read = await service.fhir('/Patient?_summary=count', { key });
    expect(read.json.total).to.equal(PATIENTS);
    const less = (await token({ ...form, scope: 'system/*.read' }, basic())).json;
    expect(less).to.have.property('scope', 'system/*.rs');
    const refused = await service.fhir('/Patient', {
      method: 'POST',
      key: String(less.access_token),
      body: JSON.stringify({ resourceType: 'Patient' }),
    });
    expect(refused.status).to.equal(403);
    const patients = await token({ ...form, scope: 'patient/*.rs' }, basic());
    expect(patients.json).to.have.property('error', 'invalid_scope');
    expect(String(patients.json.error_description)).to.include('patient/*.rs');
    expect((await token({ ...form, client_id: publicId })).json).to.have.property(
      'error',
      'unauthorized_client',
    );
  });

  it('refuse malformed requests with errors of RFC 6749', async () => {
    const twice = await token([
      ['client_id', publicId],
      ['grant_type', 'refresh_token'],
      ['grant_type', 'refresh_token'],
    ]);
    expect(twice.json).to.deep.include({ error: 'invalid_request' });
    expect((await token({ client_id: publicId })).json).to.have.property('error', 'invalid_request');
    expect((await token({ client_id: publicId, grant_type: 'password' })).json).to.have.property(
      'error',
      'unsupported_grant_type',
    );
    expect((await token({ client_id: publicId, grant_type: 'constructor' })).json).to.have.property(
      'error',
      'unsupported_grant_type',
    );
    const unknown = await token({ client_id: 'client_test_unknown', grant_type: 'refresh_token' });
    expect(unknown.status).to.equal(401);
    expect(unknown.json).to.have.property('error', 'invalid_client');
    expect(unknown.headers.get('www-authenticate')).to.match(/^Basic /);
    expect(unknown.headers.get('cache-control')).to.equal('no-store');
    const json = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect(json.status).to.equal(415);
    expect(await json.json()).to.have.property('error', 'invalid_request');
    const long = await token({ client_id: publicId, code: 'x'.repeat(200_000) });
    expect(long.status).to.equal(413);
    expect(long.json).to.have.property('error', 'invalid_request');
    const got = await fetch(`${service.url}/oauth/token`);
    expect(got.status).to.equal(405);
    expect(got.headers.get('allow')).to.include('POST');
    expect(await got.json()).to.have.property('error', 'invalid_request');
  });

  it('may be called by browsers of other origins', async () => {
    const headers = {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'authorization,content-type',
    };
    for (const path of ['token', 'revoke', 'jwks']) {
      const preflight = await fetch(`${service.url}/oauth/${path}`, { method: 'OPTIONS', headers });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get('access-control-allow-origin')).to.equal('*');
      expect(preflight.headers.get('access-control-allow-credentials')).to.equal(null);
    }
  });
});
