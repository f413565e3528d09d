/** Organizations, members, roles and projects through the admin interface. */
import { expect } from 'chai';
import { type AdminUser, newDomain, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const CLINIC = newDomain('clinic');

describe('admin: organizations and projects', () => {
  let service: InProcess;
  let owner: AdminUser;
  let admin: AdminUser;
  let developer: AdminUser;
  let stranger: AdminUser;
  let org: string;

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, `owner@${CLINIC}`);
    admin = await signIn(service, `admin@${CLINIC}`);
    developer = await signIn(service, `dev@${CLINIC}`);
    stranger = await signIn(service, 'sam@elsewhere.example');
    org = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    for (const [user, role] of [
      [admin, 'admin'],
      [developer, 'developer'],
    ] as const) {
      const { issuer, subject, email } = user;
      await owner.done('POST', `/organizations/${org}/members`, { issuer, subject, email, role });
    }
  });
  after(() => service.stop());

  it('founds an organization whose founder is its owner', async () => {
    const answer = await owner.ask('POST', '/organizations', { name: '  Second  ' });
    expect(answer.status).to.equal(201);
    const made = JSON.parse(answer.text);
    expect(answer.headers.get('location')).to.equal(`${service.url}/admin/organizations/${made.id}`);
    expect(made).to.include({
      name: 'Second',
      role: 'owner',
      confirmed_domain: null,
      sso: null,
    });
    expect(made.id).to.match(/^org_[\w-]{22}$/);
    expect(await owner.done('GET', `/organizations/${made.id}`)).to.deep.equal(made);
    expect((await owner.done('GET', '/organizations')).data[0]).to.deep.equal(made);
  });

  it('shows nothing of itself to who is no member: what an unknown id answers, to the letter', async () => {
    const project = (await owner.done('POST', `/organizations/${org}/projects`, { name: 'Pilot' })).id;
    const key = (
      await owner.done('POST', `/projects/${project}/keys`, {
        name: 'k',
        environment: 'sandbox',
        scopes: ['read'],
      })
    ).id;
    const application = (await owner.done('POST', `/projects/${project}/applications`, APPLICATION)).id;
    const routes: [string, string, unknown?][] = [
      ['GET', `/organizations/${org}`],
      ['PUT', `/organizations/${org}/sso`, { issuer: 'https://idp.example', client_id: 'c', domains: [] }],
      ['POST', `/organizations/${org}/verify`],
      ['GET', `/organizations/${org}/members`],
      ['POST', `/organizations/${org}/members`, { issuer: 'i', subject: 's', role: 'developer' }],
      ['DELETE', `/organizations/${org}/members?issuer=i&subject=s`],
      ['POST', `/organizations/${org}/projects`, { name: 'x' }],
      ['GET', `/organizations/${org}/projects`],
      ['GET', `/projects/${project}`],
      ['DELETE', `/projects/${project}`],
      ['POST', `/projects/${project}/keys`, { name: 'x', environment: 'sandbox', scopes: ['read'] }],
      ['POST', `/projects/${project}/tokens`, { environment: 'sandbox' }],
      ['GET', `/projects/${project}/keys`],
      ['DELETE', `/keys/${key}`],
      ['POST', `/projects/${project}/applications`, APPLICATION],
      ['GET', `/projects/${project}/applications`],
      ['PUT', `/applications/${application}/branding`, {}],
      ['DELETE', `/applications/${application}`],
      ['GET', `/projects/${project}/patients`],
      ['GET', `/projects/${project}/consents`],
      ['GET', `/projects/${project}/patients/0198c0de-0000-7000-8000-000000000001/record`],
    ];
    for (const [method, path, body] of routes) {
      const [real, unknown] = await Promise.all([
        stranger.ask(method, path, body),
        stranger.ask(method, path.replace(/_[\w-]{22}/, '_0000000000000000000000'), body),
      ]);
      expect(real.status, `${method} ${path}`).to.equal(404);
      expect(alike(real.text), `${method} ${path}`).to.equal(alike(unknown.text));
      expect(headersOf(real)).to.deep.equal(headersOf(unknown));
    }
    expect((await stranger.done('GET', '/organizations')).data).to.deep.equal([]);
  });

  it('lists newest first, in pages that neither skip nor repeat while others write', async () => {
    const { id } = await owner.done('POST', '/organizations', { name: 'Many' });
    for (const n of [1, 2, 3, 4, 5])
      await owner.done('POST', `/organizations/${id}/projects`, { name: `P${n}` });
    const first = await owner.done('GET', `/organizations/${id}/projects?limit=2`);
    await owner.done('POST', `/organizations/${id}/projects`, { name: 'late' });
    const names = first.data.map(({ name }) => name);
    expect(first.total).to.equal(5);
    let cursor = first.next_cursor;
    while (cursor !== null) {
      const page = await owner.done('GET', `/organizations/${id}/projects?limit=2&cursor=${cursor}`);
      // The total is the count made for the first page.
      expect(page.total).to.equal(5);
      names.push(...page.data.map(({ name }) => name));
      cursor = page.next_cursor;
    }
    expect(names).to.deep.equal(['P5', 'P4', 'P3', 'P2', 'P1']);
  });

  const refused: [string, string, string, unknown, number, string][] = [
    ['a name that is missing', 'POST', '/organizations', {}, 422, 'name'],
    ['a blank name', 'POST', '/organizations', { name: '   ' }, 422, 'name'],
    ['an unknown member', 'POST', '/organizations', { name: 'x', color: 'y' }, 422, 'color'],
    ['a limit over 200', 'GET', '/organizations?limit=201', undefined, 422, 'query.limit'],
    ['a cursor that is none', 'GET', '/organizations?cursor=bm8', undefined, 422, 'query.cursor'],
    ['an unknown parameter', 'GET', '/organizations?page=2', undefined, 422, 'query.page'],
    ['an address that is none', 'GET', '/sso/discover?email=nobody', undefined, 422, 'query.email'],
    ['no address', 'GET', '/sso/discover', undefined, 422, 'query.email'],
  ];
  for (const [what, method, path, body, status, field] of refused) {
    it(`refuses ${what} with ${status}, naming ${field}`, async () => {
      const answer = await owner.ask(method, path, body);
      expect([answer.status, JSON.parse(answer.text).error.field]).to.deep.equal([status, field]);
    });
  }

  it('says who the caller is', async () => {
    const { issuer, subject, email } = owner;
    const config = await owner.done('GET', '/config');
    expect(config).to.deep.include({ base_url: service.url, identity: { issuer, subject, email } });
  });

  it('refuses who has no ID token, and an API key in its place', async () => {
    for (const [headers, status] of [
      [{}, 401],
      [{ Authorization: `Bearer ${service.key}` }, 403],
    ] as const) {
      const response = await fetch(`${service.url}/admin/organizations`, { headers });
      expect(response.status).to.equal(status);
      if (status === 401) expect(response.headers.get('www-authenticate')).to.match(/^Bearer/);
    }
  });

  describe('roles', () => {
    it('lets each do what docs/admin.md says', async () => {
      const project = (await admin.done('POST', `/organizations/${org}/projects`, { name: 'Roles' })).id;
      const application = (await admin.done('POST', `/projects/${project}/applications`, APPLICATION)).id;
      const sso = (more: object) => ({ issuer: 'https://i.example', client_id: 'c', domains: [], ...more });
      const key = (environment: string) => ({ name: 'k', environment, scopes: ['read'] });
      const { issuer, subject } = stranger;
      const table: [string, string, unknown, number, number, number][] = [
        // The expected statuses are for developer, admin and owner.
        ['GET', `/organizations/${org}`, undefined, 200, 200, 200],
        ['GET', `/organizations/${org}/members`, undefined, 200, 200, 200],
        ['POST', `/organizations/${org}/projects`, { name: 'x' }, 403, 201, 201],
        ['PUT', `/organizations/${org}/sso`, sso({}), 403, 403, 200],
        ['PUT', `/organizations/${org}/sso`, sso({ domains: [CLINIC] }), 403, 200, 200],
        ['PUT', `/organizations/${org}/sso`, sso({ domains: ['x.example'] }), 403, 403, 403],
        ['PUT', `/organizations/${org}/sso`, sso({ client_id: 'd' }), 403, 403, 200],
        ['PUT', `/organizations/${org}/sso`, sso({ issuer: 'https://j.example' }), 403, 403, 200],
        ['POST', `/organizations/${org}/verify`, undefined, 403, 403, 200],
        ['POST', `/organizations/${org}/members`, { issuer, subject, role: 'developer' }, 403, 200, 200],
        ['POST', `/organizations/${org}/members`, { issuer, subject, role: 'owner' }, 403, 403, 200],
        ['GET', `/projects/${project}`, undefined, 200, 200, 200],
        ['GET', `/projects/${project}/keys`, undefined, 200, 200, 200],
        ['POST', `/projects/${project}/keys`, key('sandbox'), 201, 201, 201],
        ['POST', `/projects/${project}/keys`, key('production'), 403, 201, 201],
        ['GET', `/projects/${project}/applications`, undefined, 200, 200, 200],
        ['POST', `/projects/${project}/applications`, APPLICATION, 403, 201, 201],
        ['PUT', `/applications/${application}/branding`, { color: '#123456' }, 403, 200, 200],
        ['POST', `/applications/${application}/trust`, {}, 403, 403, 403],
        ['POST', `/projects/${project}/sandbox/reset`, undefined, 200, 200, 200],
        ['GET', `/projects/${project}/patients`, undefined, 200, 200, 200],
        ['GET', `/projects/${project}/patients?environment=production`, undefined, 403, 200, 200],
        ['GET', `/projects/${project}/consents`, undefined, 200, 200, 200],
        ['GET', `/projects/${project}/consents?environment=production`, undefined, 403, 200, 200],
        ['DELETE', `/applications/${application}`, undefined, 403, 204, 404],
        ['DELETE', `/projects/${project}`, undefined, 403, 204, 404],
      ];
      for (const [method, path, body, ...expected] of table) {
        const got: number[] = [];
        for (const user of [developer, admin, owner]) got.push((await user.ask(method, path, body)).status);
        expect(got, `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(expected);
      }
      await owner.done('DELETE', `/organizations/${org}/members?${new URLSearchParams({ issuer, subject })}`);
      expect((await stranger.ask('GET', `/organizations/${org}`)).status).to.equal(404);
    });

    it('keeps an owner in every organization, and owners out of the hands of admins', async () => {
      const { issuer, subject } = owner;
      const self = new URLSearchParams({ issuer, subject });
      const demotion = { issuer, subject, role: 'developer' };
      expect((await owner.ask('DELETE', `/organizations/${org}/members?${self}`)).status).to.equal(409);
      expect((await owner.ask('POST', `/organizations/${org}/members`, demotion)).status).to.equal(409);
      expect((await admin.ask('POST', `/organizations/${org}/members`, demotion)).status).to.equal(403);
      expect((await admin.ask('DELETE', `/organizations/${org}/members?${self}`)).status).to.equal(403);
      const nobody = new URLSearchParams({ issuer, subject: 'nobody' });
      expect((await owner.ask('DELETE', `/organizations/${org}/members?${nobody}`)).status).to.equal(404);
    });

    it('lists members with their roles', async () => {
      const { data } = await developer.done('GET', `/organizations/${org}/members`);
      const roles = data.map(({ email, role }) => [email, role]);
      expect(roles).to.deep.include([`owner@${CLINIC}`, 'owner']);
      expect(roles).to.deep.include([`dev@${CLINIC}`, 'developer']);
    });
  });
});

const APPLICATION = {
  name: 'Diary',
  kind: 'public',
  redirect_uris: ['https://diary.example/back'],
  scopes: ['patient/*.rs'],
};

/** Returns an error's text without the parts that vary: the request's id and the requested id. */
function alike(text: string): string {
  return text.replace(/req_[\w-]+/g, 'req').replace(/(org|proj|key|app)_[\w-]{22}/g, '$1');
}

function headersOf({ headers }: { readonly headers: Headers }): string[] {
  const own = new Set(['service-request-id', 'date', 'content-length', 'ratelimit']);
  const lines: string[] = [];
  headers.forEach((value, name) => {
    if (!own.has(name)) lines.push(`${name}: ${value}`);
  });
  return lines;
}
