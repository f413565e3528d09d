/** OAuth applications through the admin interface. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

const PUBLIC = {
  name: 'Diary',
  kind: 'public',
  redirect_uris: ['https://diary.example/back?x=1', 'http://localhost:8080/back', 'org.example.diary:/back'],
  scopes: [
    'openid',
    'fhirUser',
    'launch/patient',
    'offline_access',
    'patient/Observation.rs?category=vital-signs',
  ],
};
const CONFIDENTIAL = {
  name: 'Portal',
  kind: 'confidential',
  redirect_uris: ['https://portal.example/back'],
  scopes: ['patient/*.cruds', 'system/*.rs'],
  grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
  privacy_url: 'https://portal.example/privacy',
};

describe('admin: applications', () => {
  let service: InProcess;
  let owner: AdminUser;
  let organization: string;
  let project: string;
  const register = (body: object) => owner.done('POST', `/projects/${project}/applications`, body);
  const list = async () => (await owner.done('GET', `/projects/${project}/applications`)).data;

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    ({
      organization: { id: organization },
      project: { id: project },
    } = await owner.done('POST', '/sandbox/quickstart', {}));
  });
  after(() => service.stop());

  it('are registered with exact redirect URIs; public ones have no secret', async () => {
    const made = await register(PUBLIC);
    expect(made).to.deep.include({
      ...PUBLIC,
      environment: 'sandbox',
      post_logout_redirect_uris: [],
      project_id: project,
      grant_types: ['authorization_code', 'refresh_token'],
      privacy_url: null,
      branding: { logo_uri: null, client_uri: null, tos_uri: null, color: null, logo: null },
      jwks: null,
      jwks_uri: null,
      sector: null,
      previous_secret_expires_at: null,
      trusted: false,
    });
    expect(made.id).to.match(/^app_[\w-]{22}$/);
    expect(made.client_id).to.match(/^client_test_[\w-]{22}$/);
    expect(made).to.not.have.property('client_secret');
    expect((await list())[0]).to.deep.equal(made);
  });

  it('belong to the environment that their registration names, for good', async () => {
    const made = await register({ ...PUBLIC, environment: 'production' });
    expect(made.environment).to.equal('production');
    expect(made.client_id).to.match(/^client_live_[\w-]{22}$/);
    expect((await list())[0]).to.deep.equal(made);
    const change = await owner.ask('PUT', `/applications/${made.id}/branding`, { environment: 'sandbox' });
    expect(change.status).to.equal(422);
    expect((await list())[0]).to.deep.equal(made);
  });

  it('show the secret of a confidential one once, and keep its SHA-256', async () => {
    const { client_secret, ...made } = await register(CONFIDENTIAL);
    expect(made).to.deep.include(CONFIDENTIAL);
    expect((await list())[0]).to.deep.equal(made);
    const { rows } = await service.pool.query(
      'select secret_sha256 from projects.application where id = $1',
      [made.id],
    );
    expect(rows[0].secret_sha256).to.equal(createHash('sha256').update(client_secret).digest('hex'));
  });

  it('answer a repeated registration with the same secret, and make one', async () => {
    const body = { ...CONFIDENTIAL, name: 'Once' };
    const ask = () =>
      owner.ask('POST', `/projects/${project}/applications`, body, { 'Idempotency-Key': 'application' });
    const [first, again] = [await ask(), await ask()];
    expect(again.text).to.equal(first.text);
    expect((await list()).filter(({ name }) => name === 'Once')).to.have.length(1);
  });

  it('need no redirect URI with client_credentials only', async () => {
    const body = { ...CONFIDENTIAL, redirect_uris: [], grant_types: ['client_credentials'] };
    const made = await owner.ask('POST', `/projects/${project}/applications`, body);
    expect(made.status).to.equal(201);
  });

  const wrong: [string, object, string][] = [
    ['no redirect URI', { redirect_uris: [] }, 'redirect_uris'],
    [
      'an address after signing out over http',
      { post_logout_redirect_uris: ['http://a.example/'] },
      'post_logout_redirect_uris.0',
    ],
    [
      'the same address twice',
      { post_logout_redirect_uris: ['https://a.example/', 'https://a.example/'] },
      'post_logout_redirect_uris',
    ],
    ['a relative redirect URI', { redirect_uris: ['/back'] }, 'redirect_uris.0'],
    ['a redirect URI over http', { redirect_uris: ['http://diary.example/'] }, 'redirect_uris.0'],
    ['a fragment', { redirect_uris: ['https://a.example/#x'] }, 'redirect_uris.0'],
    ['a wildcard', { redirect_uris: ['https://ok.example/', 'https://*.example/'] }, 'redirect_uris.1'],
    ['user information', { redirect_uris: ['https://a:b@c.example/'] }, 'redirect_uris.0'],
    [
      'a redirect URI twice',
      { redirect_uris: ['https://a.example/', 'https://a.example/'] },
      'redirect_uris',
    ],
    ['a scheme without a dot', { redirect_uris: ['diary:/back'] }, 'redirect_uris.0'],
    ['a script', { redirect_uris: ['javascript:alert(1)'] }, 'redirect_uris.0'],
    [
      'a scheme of its own, confidential',
      { kind: 'confidential', redirect_uris: ['a.b:/c'] },
      'redirect_uris.0',
    ],
    ['client_credentials, public', { grant_types: ['client_credentials'] }, 'grant_types.0'],
    ['an unknown grant type', { grant_types: ['password'] }, 'grant_types.0'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['a scope of another context', { scopes: ['user/*.rs'] }, 'scopes.0'],
    ['a system scope with a filter', { scopes: ['system/Observation.rs?category=laboratory'] }, 'scopes.0'],
    ['a scope of an unknown type', { scopes: ['patient/Spaceship.rs'] }, 'scopes.0'],
    ['a scope without a right', { scopes: ['patient/*.'] }, 'scopes.0'],
    ['another filter than category', { scopes: ['patient/Observation.rs?code=1'] }, 'scopes.0'],
    ['an unknown environment', { environment: 'staging' }, 'environment'],
    ['an unknown kind', { kind: 'trusted' }, 'kind'],
    ['a privacy page over http', { privacy_url: 'http://diary.example' }, 'privacy_url'],
    ['an unknown member', { client_secret: 'mine' }, 'client_secret'],
  ];
  for (const [what, more, field] of wrong) {
    it(`are refused with ${what}`, async () => {
      const answer = await owner.ask('POST', `/projects/${project}/applications`, { ...PUBLIC, ...more });
      const { error } = JSON.parse(answer.text);
      expect([answer.status, error.field], answer.text).to.deep.equal([422, field]);
    });
  }

  it('hear of every fault at once', async () => {
    const body = { name: '', kind: 'public', redirect_uris: ['x', 'http://y.example'], scopes: ['z'] };
    const answer = await owner.ask('POST', `/projects/${project}/applications`, body);
    const fields = JSON.parse(answer.text).error.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.include.members(['name', 'scopes.0']);
  });

  it('are branded: what is sent replaces what was there', async () => {
    const { id } = await register(PUBLIC);
    const branding = { logo_uri: 'https://diary.example/logo.svg', color: '#0a5Fb4' };
    const none = { client_uri: null, tos_uri: null, logo: null };
    const branded = await owner.done('PUT', `/applications/${id}/branding`, branding);
    expect(branded.branding).to.deep.equal({ ...none, ...branding });
    expect((await list())[0]).to.deep.equal(branded);
    const again = await owner.done('PUT', `/applications/${id}/branding`, {
      tos_uri: 'https://diary.example/t',
    });
    expect(again.branding).to.deep.include({
      logo_uri: null,
      color: null,
      tos_uri: 'https://diary.example/t',
    });
    for (const [body, field] of [
      [{ color: 'blue' }, 'color'],
      [{ logo_uri: 'data:image/png;base64,x' }, 'logo_uri'],
      [{ logo: 'x' }, 'logo'],
    ] as const) {
      const answer = await owner.ask('PUT', `/applications/${id}/branding`, body);
      expect([answer.status, JSON.parse(answer.text).error.field]).to.deep.equal([422, field]);
    }
  });

  it('are trusted by the operator alone', async () => {
    const { id } = await register(PUBLIC);
    await owner.done('POST', `/organizations/${organization}/verify`);
    for (const trusted of [true, false]) {
      const refused = await owner.ask('POST', `/applications/${id}/trust`, { trusted });
      expect([refused.status, JSON.parse(refused.text).error.type]).to.deep.equal([403, 'forbidden']);
      expect(refused.text).to.contain('only operators of the installation');
    }
    const annal = (action: string) =>
      runCommand(['applications', action, id], { DATABASE_URL: service.databaseUrl });
    const isTrusted = async () => (await list()).find((one) => one.id === id)?.trusted;
    expect(await isTrusted()).to.equal(false);
    for (const [action, trusted, text] of [
      ['trust', true, `${id} is trusted: it may use the identity grant.\n`],
      ['trust', true, `${id} is trusted: it may use the identity grant (unchanged).\n`],
      ['withdraw', false, `${id} is not trusted.\n`],
    ] as const) {
      expect(await annal(action)).to.include({ code: 0, stdout: text });
      await eventually(async () => (await isTrusted()) === trusted);
    }
    expect(
      await runCommand(['applications', 'trust', 'app_1'], { DATABASE_URL: service.databaseUrl }),
    ).to.include({
      code: 1,
      stderr: "annal: application/app_1 doesn't exist\n",
    });
  });

  it('are not registered in a project that is being closed, and go with it', async () => {
    for (const name of ['one', 'two', 'three']) {
      const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name });
      const before = await owner.done('POST', `/projects/${id}/applications`, PUBLIC);
      const register = () => owner.ask('POST', `/projects/${id}/applications`, PUBLIC);
      const asked = [register(), register(), owner.ask('DELETE', `/projects/${id}`), register(), register()];
      const statuses = (await Promise.all(asked)).map(({ status }) => status);
      expect(statuses[2]).to.equal(204);
      const { rows } = await service.pool.query(
        `select a.id, a.created_at < p.deleted_at as before, a.deleted_at = p.deleted_at as hidden
         from projects.application a join projects.project p on p.id = a.project where p.id = $1`,
        [id],
      );
      expect(statuses.filter((status) => status === 201)).to.have.length(rows.length - 1);
      for (const row of rows) expect(row).to.include({ before: true, hidden: true });
      expect((await owner.ask('PUT', `/applications/${before.id}/branding`, {})).status).to.equal(404);
    }
  });

  it('are gone when they are deleted', async () => {
    const { id } = await register(PUBLIC);
    expect((await owner.ask('DELETE', `/applications/${id}`)).status).to.equal(204);
    expect((await list()).map((each) => each.id)).to.not.include(id);
    for (const [method, path, body] of [
      ['DELETE', `/applications/${id}`, undefined],
      ['PUT', `/applications/${id}/branding`, {}],
    ] as const) {
      expect((await owner.ask(method, path, body)).status, path).to.equal(404);
    }
  });
});
