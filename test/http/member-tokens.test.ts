/** Members' access tokens, which the dashboard uses to read and write a project's data (docs/admin.md). */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { sweepTokens } from '#src/oauth/revoke.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { Journey } from '#test/support/oauth-journey.ts';
import { eventually } from '#test/support/process.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

type Environment = 'sandbox' | 'production';
const PATIENT = { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14' };

describe('tokens of members', () => {
  let service: InProcess;
  let second: SecondInstance;
  let owner: AdminUser;
  let organization: string;
  let project: string;
  /** The project's API keys, and a Patient in each environment. */
  const keys = { sandbox: '', production: '' };
  const patients = { sandbox: '', production: '' };

  before(async () => {
    service = await startInProcess();
    second = await startSecondInstance(service);
    owner = await signIn(service, 'owner@clinic.example');
    organization = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
    for (const environment of ['sandbox', 'production'] as const) {
      keys[environment] = (
        await owner.done('POST', `/projects/${project}/keys`, { name: environment, environment })
      ).key;
      const made = await service.fhir('/Patient', {
        method: 'POST',
        body: JSON.stringify(PATIENT),
        key: keys[environment],
      });
      patients[environment] = String(made.json.id);
    }
  });
  after(async () => {
    await second?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  const ask = (who: AdminUser, body: object, headers = {}, of = project) =>
    who.ask('POST', `/projects/${of}/tokens`, body, headers);
  async function tokenOf(
    who: AdminUser,
    environment: Environment = 'sandbox',
    scopes: readonly string[] = ['read'],
    of = project,
  ): Promise<string> {
    const answer = await ask(who, { environment, scopes }, {}, of);
    expect(answer.status, answer.text).to.equal(201);
    return JSON.parse(answer.text).access_token;
  }
  /** Returns the status of a read on each of the two instances. */
  const reads = (key: string, environment: Environment = 'sandbox'): Promise<number[]> =>
    Promise.all(
      [service.url, second.url].map(
        async (url) =>
          (await service.fhir(`${url}/fhir/R4/Patient/${patients[environment]}`, { key })).status,
      ),
    );
  async function member(email: string, role: string): Promise<AdminUser> {
    const user = await signIn(service, email);
    await giveRole(user, role);
    return user;
  }
  const giveRole = ({ issuer, subject, email }: AdminUser, role: string) =>
    owner.done('POST', `/organizations/${organization}/members`, { issuer, subject, email, role });
  const remove = ({ issuer, subject }: AdminUser) =>
    owner.done(
      'DELETE',
      `/organizations/${organization}/members?${new URLSearchParams({ issuer, subject })}`,
    );
  const create = (key: string, headers = {}) =>
    service.fhir('/Patient', { method: 'POST', body: JSON.stringify(PATIENT), key, headers });

  it('are shown once, last 15 minutes by the clock of the database, and are stored as a hash', async () => {
    const answer = await ask(owner, { environment: 'sandbox' });
    expect([answer.status, answer.headers.get('cache-control')]).to.deep.equal([201, 'no-store']);
    const { access_token: token, ...rest } = JSON.parse(answer.text);
    expect(token).to.match(/^at_[\w-]{43}$/);
    expect(rest).to.deep.equal({
      token_type: 'Bearer',
      expires_in: 900,
      environment: 'sandbox',
      scopes: ['read'],
    });
    const sha256 = createHash('sha256').update(token).digest();
    const find = async (columns: string) =>
      (
        await service.pool.query(`select ${columns} from operations.member_token t where sha256 = $1`, [
          sha256,
        ])
      ).rows;
    const [row] = await find('t::text as text, extract(epoch from expires_at - now())::float8 as seconds');
    expect(row.text).to.not.contain(token.slice(3));
    expect(row.seconds).to.be.within(600, 900);
    expect(await reads(token)).to.deep.equal([200, 200]);
    await service.pool.query(
      'update operations.member_token set expires_at = clock_timestamp() where sha256 = $1',
      [sha256],
    );
    expect(await reads(token)).to.deep.equal([401, 401]);
    await sweepTokens(service.pool);
    expect(await find('1')).to.deep.equal([]);
  });

  it('read what an API key of the project reads in the environment, to the letter', async () => {
    const token = await tokenOf(owner);
    const id = patients.sandbox;
    for (const path of [
      `/Patient/${id}`,
      `/Patient/${id}/_history`,
      `/Patient?_id=${id}`,
      `/Patient/${patients.production}`,
      `${service.url}/v1/patients/${id}`,
      `${service.url}/v1/patients/${id}/timeline`,
      `${service.url}/v1/patients/${patients.production}`,
      `${service.url}/v1/webhooks`,
    ]) {
      const [byToken, byKey] = [
        await service.fhir(path, { key: token }),
        await service.fhir(path, { key: keys.sandbox }),
      ];
      const told = (text: string): string =>
        text.replace(/req_[\w-]+|"(?:lastUpdated|date|timestamp)":"[^"]*"|urn:uuid:[\w-]+/g, '…');
      expect(byToken.status, path).to.equal(byKey.status);
      expect(told(byToken.text), path).to.equal(told(byKey.text));
    }
  });

  it('keep to their environment and their scopes', async () => {
    const [reader, writer] = [await tokenOf(owner), await tokenOf(owner, 'sandbox', ['read', 'write'])];
    expect((await create(reader)).status).to.equal(403);
    const made = await create(writer);
    expect(made.status).to.equal(201);
    const path = `/Patient/${made.json.id}`;
    expect((await service.fhir(path, { key: keys.sandbox })).status).to.equal(200);
    const live = await tokenOf(owner, 'production');
    expect((await service.fhir(path, { key: live })).status).to.equal(404);
    expect([
      await reads(live, 'production'),
      await reads(live),
      await reads(reader, 'production'),
    ]).to.deep.equal([
      [200, 200],
      [404, 404],
      [404, 404],
    ]);
    for (const wrong of [
      {},
      { environment: 'x' },
      { environment: 'sandbox', scopes: [] },
      { environment: 'sandbox', scopes: ['read', 'read'] },
    ])
      expect((await ask(owner, wrong)).status, JSON.stringify(wrong)).to.equal(422);
  });

  it('take the role of the environment, and show a stranger nothing', async () => {
    const [admin, developer] = [
      await member('admin@clinic.example', 'admin'),
      await member('dev@clinic.example', 'developer'),
    ];
    const stranger = await signIn(service, 'sam@elsewhere.example');
    const statuses = async (who: AdminUser) =>
      [await ask(who, { environment: 'sandbox' }), await ask(who, { environment: 'production' })].map(
        ({ status }) => status,
      );
    expect(await statuses(owner)).to.deep.equal([201, 201]);
    expect(await statuses(admin)).to.deep.equal([201, 201]);
    expect(await statuses(developer)).to.deep.equal([201, 403]);
    expect(await statuses(stranger)).to.deep.equal([404, 404]);
  });

  it('end at once on every instance when the role is lost, and with it alone', async () => {
    const user = await member('passing@clinic.example', 'admin');
    const [live, test] = [await tokenOf(user, 'production'), await tokenOf(user)];
    expect([await reads(live, 'production'), await reads(test)]).to.deep.equal([
      [200, 200],
      [200, 200],
    ]);
    await giveRole(user, 'developer');
    expect([await reads(live, 'production'), await reads(test)]).to.deep.equal([
      [401, 401],
      [200, 200],
    ]);
    await remove(user);
    expect([await reads(live, 'production'), await reads(test)]).to.deep.equal([
      [401, 401],
      [401, 401],
    ]);
    expect(await reads(keys.sandbox)).to.deep.equal([200, 200]);
  });

  it('end when their project is closed', async () => {
    const other = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Brief' })).id;
    const token = await tokenOf(owner, 'sandbox', ['read'], other);
    const search = async () => (await service.fhir('/Patient', { key: token })).status;
    expect(await search()).to.equal(200);
    await owner.done('DELETE', `/projects/${other}`);
    expect(await search()).to.equal(401);
  });

  it('name the person in events, Provenance and the log of requests', async () => {
    const user = await member('writer@clinic.example', 'developer');
    const { issuer, subject, email } = user;
    const token = await tokenOf(user, 'sandbox', ['read', 'write']);
    const id = String((await create(token)).json.id);
    const provenance = await service.fhir(`/Provenance?target=Patient/${id}`, { key: keys.sandbox });
    expect(JSON.stringify(provenance.json)).to.contain(
      JSON.stringify({ identifier: { system: issuer, value: subject }, display: email }),
    );
    const { json } = await service.fhir(`${service.url}/v1/patients/${id}/provenance/Patient/${id}`, {
      key: keys.sandbox,
    });
    expect(JSON.stringify(json)).to.contain(
      JSON.stringify({ kind: 'member', id: subject, name: email, last4: null }),
    );
    const { rows } = await service.pool.query(
      'select metadata from history.version where id = $1 and type = $2',
      [id, 'Patient'],
    );
    expect(JSON.parse(rows[0].metadata).credential).to.deep.equal({
      kind: 'id_token',
      issuer,
      subject,
      project,
      environment: 'sandbox',
    });
    await eventually(async () => {
      const { data } = await owner.done('GET', `/projects/${project}/logs?path=/fhir&environment=sandbox`);
      return data.some((entry) => entry.identity === `${issuer} ${subject}` && entry.key_id === null);
    });
    const { rows: logged } = await service.pool.query(
      'select count(*)::int as n from operations.request_log l where l::text like $1',
      [`%${token.slice(3)}%`],
    );
    expect(logged).to.deep.equal([{ n: 0 }]);
  });

  it('open neither /admin nor /me nor /oauth, and stand for nothing at introspection', async () => {
    const token = await tokenOf(owner, 'production', ['read', 'write']);
    for (const [method, path] of [
      ['GET', '/admin/organizations'],
      ['GET', `/admin/projects/${project}/keys`],
      ['POST', `/admin/projects/${project}/tokens`],
      ['GET', '/me/patients'],
      ['POST', '/oauth/introspect'],
      ['POST', '/oauth/token'],
    ] as const) {
      const answer = await fetch(service.url + path, {
        method,
        headers: { Authorization: `Bearer ${token}` },
        ...(path.startsWith('/oauth')
          ? { body: new URLSearchParams({ token, grant_type: 'client_credentials' }) }
          : {}),
      });
      expect(answer.status, path).to.equal(path.startsWith('/oauth') ? 401 : 403);
    }
    const application = await owner.done('POST', `/projects/${project}/applications`, {
      name: 'Portal',
      environment: 'production',
      kind: 'confidential',
      redirect_uris: ['https://portal.example.org/back'],
      scopes: ['patient/*.rs'],
    });
    const journey = new Journey(service.url);
    expect((await journey.post('/oauth/introspect', application, { token })).text).to.equal(
      '{"active":false}',
    );
    expect(await reads(token, 'production')).to.deep.equal([200, 200]);
    expect((await journey.post('/oauth/revoke', application, { token })).status).to.equal(200);
    expect(await reads(token, 'production')).to.deep.equal([401, 401]);
  });

  it('are given again under the same Idempotency-Key, and share kept answers with the person’s next token', async () => {
    const user = await member('again@clinic.example', 'developer');
    const given = async (who: AdminUser) =>
      JSON.parse((await ask(who, { environment: 'sandbox' }, { 'Idempotency-Key': 'token-1' })).text)
        .access_token;
    expect(await given(user)).to.equal(await given(user));
    expect(await given(owner)).to.not.equal(await given(user));
    const [first, next] = [
      await tokenOf(user, 'sandbox', ['read', 'write']),
      await tokenOf(user, 'sandbox', ['read', 'write']),
    ];
    const headers = { 'Idempotency-Key': 'patient-1' };
    const made = await create(first, headers);
    const repeated = await create(next, headers);
    expect([repeated.status, repeated.text, repeated.headers.get('idempotent-replayed')]).to.deep.equal([
      201,
      made.text,
      'true',
    ]);
    const other = await tokenOf(owner, 'sandbox', ['read', 'write']);
    for (const key of [other, keys.sandbox]) expect((await create(key, headers)).status).to.equal(422);
  });

  it('are in the OpenAPI document', async () => {
    const document = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
    const { post } = document.paths['/admin/projects/{project_id}/tokens'];
    expect(post.operationId).to.equal('createMemberToken');
    expect(JSON.stringify(post.responses['201'])).to.contain('MemberToken');
    expect(Object.keys(document.components.schemas.MemberToken.properties)).to.deep.equal([
      'access_token',
      'token_type',
      'expires_in',
      'environment',
      'scopes',
    ]);
  });
});
