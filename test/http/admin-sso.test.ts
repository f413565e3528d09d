/** People who sign in at an organization's own client of an issuer can access that organization and nothing else. */
import { expect } from 'chai';
import { type AdminUser, newDomain, withToken } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';

const CLINIC = newDomain('clinic');

describe('admin: single sign-on with an organization’s own client', () => {
  let issuer: TestIssuer;
  let service: InProcess;
  let owner: AdminUser;
  let own: string;
  let others: string;

  /** Returns a person who has a token that the issuer made for one of its clients. */
  async function person(
    subject: string,
    aud: string,
    more: Record<string, unknown> = {},
  ): Promise<AdminUser> {
    const email = `${subject}@${CLINIC}`;
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer.url,
      sub: subject,
      aud,
      iat: now,
      exp: now + 600,
      email,
      email_verified: true,
    };
    return withToken(service.url, await issuer.sign({ ...claims, ...more }), {
      email,
      issuer: issuer.url,
      subject,
    });
  }

  before(async () => {
    issuer = await startIssuer();
    service = await startInProcess({}, { OIDC_ISSUERS: `${issuer.url} dashboard` });
    owner = await person('owner', 'dashboard');
    own = (await owner.done('POST', '/organizations', { name: 'Own' })).id;
    others = (await owner.done('POST', '/organizations', { name: 'Others' })).id;
    const settings = { issuer: issuer.url, client_id: 'clinic', domains: [CLINIC] };
    await owner.done('PUT', `/organizations/${own}/sso`, settings);
    const member = { issuer: issuer.url, subject: 'ben', role: 'admin' };
    await owner.done('POST', `/organizations/${others}/members`, member);
  });
  after(async () => {
    await service?.stop();
    await issuer.stop();
  });

  it('refuses this service as the issuer, however it is spelled', async () => {
    const { port } = new URL(service.url);
    const before = await owner.done('GET', `/organizations/${own}`);
    for (const url of [
      service.url,
      `${service.url}/`,
      `${service.url}/dev`,
      `${service.url}/dev//`,
      `${service.url}/%64ev`,
      `HTTP://LOCALHOST:${port}/./dev/`,
      `http://127.0.0.1:${port}`,
    ]) {
      const body = { issuer: url, client_id: 'clinic', domains: [CLINIC] };
      const answer = await owner.ask('PUT', `/organizations/${own}/sso`, body);
      expect(answer.status, url).to.equal(422);
      expect(answer.json.error, url).to.include({ field: 'issuer' });
    }
    expect(await owner.done('GET', `/organizations/${own}`)).to.deep.equal(before);
  });

  it('shows them their organization, as developers', async () => {
    const ben = await person('ben', 'clinic');
    const { data, total } = await ben.done('GET', '/organizations');
    expect([total, data.map(({ id, role }) => [id, role])]).to.deep.equal([1, [[own, 'developer']]]);
    expect((await ben.ask('GET', `/organizations/${own}`)).status).to.equal(200);
  });

  it('shows them no other, though they are members by name there', async () => {
    const ben = await person('ben', 'clinic');
    expect((await ben.ask('GET', `/organizations/${others}`)).status).to.equal(404);
    expect((await ben.ask('POST', `/organizations/${others}/projects`, { name: 'x' })).status).to.equal(404);
    const trusted = await person('ben', 'dashboard');
    expect(await trusted.done('GET', `/organizations/${others}`)).to.include({ role: 'admin' });
  });

  it('shows them no patient’s record, because an issuer can claim any address', async () => {
    const get = async ({ token }: AdminUser, path: string): Promise<number> =>
      (await fetch(`${service.url}/me${path}`, { headers: { Authorization: `Bearer ${token}` } })).status;
    const [ben, trusted] = [await person('ben', 'clinic'), await person('ben', 'dashboard')];
    const grants = '/patients/019a0000-0000-7000-8000-000000000001/grants';
    for (const [path, status] of [
      ['/patients', 200],
      [grants, 404],
    ] as const) {
      expect(await get(ben, path), path).to.equal(403);
      expect(await get(trusted, path), path).to.equal(status);
    }
  });

  it('lets them found nothing, and verify nothing', async () => {
    const ben = await person('ben', 'clinic');
    expect((await ben.ask('POST', '/organizations', { name: 'x' })).status).to.equal(403);
    expect((await ben.ask('POST', '/sandbox/quickstart', {})).status).to.equal(403);
    const ownerThere = await person('owner', 'clinic');
    expect(await ownerThere.done('GET', `/organizations/${own}`)).to.include({ role: 'developer' });
    expect((await ownerThere.ask('POST', `/organizations/${own}/verify`)).status).to.equal(403);
    expect((await owner.done('POST', `/organizations/${own}/verify`)).confirmed_domain).to.be.a('string');
  });

  it('makes nobody more than a developer, whatever they are by name', async () => {
    const project = (await owner.done('POST', `/organizations/${own}/projects`, { name: 'Pilot' })).id;
    const boss = { issuer: issuer.url, subject: 'boss', role: 'admin' };
    await owner.done('POST', `/organizations/${own}/members`, boss);
    const sso = { issuer: issuer.url, client_id: 'evil', domains: [CLINIC] };
    const key = { name: 'k', environment: 'production', scopes: ['read'] };
    const asked: [string, string, unknown, number][] = [
      ['GET', `/projects/${project}`, undefined, 200],
      ['POST', `/projects/${project}/keys`, { ...key, environment: 'sandbox' }, 201],
      ['POST', `/projects/${project}/keys`, key, 403],
      ['POST', `/projects/${project}/tokens`, { environment: 'sandbox' }, 201],
      ['POST', `/projects/${project}/tokens`, { environment: 'production' }, 403],
      ['POST', `/organizations/${own}/projects`, { name: 'x' }, 403],
      ['POST', `/organizations/${own}/members`, { ...boss, subject: 'x' }, 403],
      [
        'DELETE',
        `/organizations/${own}/members?${new URLSearchParams({ issuer: boss.issuer, subject: 'boss' })}`,
        undefined,
        403,
      ],
      ['PUT', `/organizations/${own}/sso`, sso, 403],
      ['DELETE', `/projects/${project}`, undefined, 403],
    ];
    for (const subject of ['owner', 'boss']) {
      const there = await person(subject, 'clinic');
      for (const [method, path, body, status] of asked)
        expect((await there.ask(method, path, body)).status, `${subject} ${method} ${path}`).to.equal(status);
    }
    const trusted = await person('boss', 'dashboard');
    expect((await trusted.ask('POST', `/projects/${project}/keys`, key)).status).to.equal(201);
  });

  it('makes auditors no members: they would become developers, who write', async () => {
    const auditor = { issuer: issuer.url, subject: 'auditor', role: 'auditor' };
    await owner.done('POST', `/organizations/${own}/members`, auditor);
    const there = await person('auditor', 'clinic');
    expect((await there.ask('GET', `/organizations/${own}`)).status).to.equal(404);
    const trusted = await person('auditor', 'dashboard');
    expect(await trusted.done('GET', `/organizations/${own}`)).to.include({ role: 'auditor' });
  });

  it('takes a domain from nobody whose address is not verified, or is of another', async () => {
    const second = newDomain('b');
    const { id } = await owner.done('POST', '/organizations', { name: 'Claims' });
    const sso = { issuer: issuer.url, client_id: 'claims', domains: [second] };
    const claims: [string, Record<string, unknown>, number][] = [
      ['another domain', {}, 403],
      ['an address that is not verified', { email: `o@${second}`, email_verified: false }, 403],
      ['an address with the domain in front', { email: `${second}@x.example` }, 403],
      ['a domain below', { email: `o@a.${second}` }, 403],
      ['the domain', { email: `o@${second.toUpperCase()}` }, 200],
      ['another domain, when it is there', {}, 200],
    ];
    for (const [what, more, status] of claims) {
      const user = await person('owner', 'dashboard', more);
      const answer = await user.ask('PUT', `/organizations/${id}/sso`, sso);
      expect(answer.status, what).to.equal(status);
      if (status === 403) {
        const { error } = JSON.parse(answer.text);
        expect([error.type, error.field], what).to.deep.equal(['forbidden', 'domains.0']);
        expect(answer.text).to.contain(`${second} is new`);
      }
    }
  });

  it('needs an address that the issuer has verified', async () => {
    const unverified = await person('cat', 'clinic', { email_verified: false });
    expect((await unverified.done('GET', '/organizations')).total).to.equal(0);
    const elsewhere = await person('dan', 'clinic', { email: `dan@${CLINIC}.evil.example` });
    expect((await elsewhere.ask('GET', `/organizations/${own}`)).status).to.equal(404);
  });

  it('refuses tokens of clients that nobody named, and of one that an organization names no more', async () => {
    expect((await (await person('eve', 'nobody')).ask('GET', '/organizations')).status).to.equal(401);
    const ben = await person('ben', 'clinic');
    const { id: project } = await owner.done('POST', `/organizations/${own}/projects`, { name: 'Data' });
    // One person uses the organization's client. The other uses the installation's client, and belongs to the organization
    // through the domain of the e-mail address.
    const tokens: string[] = [];
    for (const one of [ben, await person('ann', 'dashboard')])
      tokens.push(
        String(
          (await one.done('POST', `/projects/${project}/tokens`, { environment: 'sandbox' })).access_token,
        ),
      );
    const statuses = () =>
      Promise.all(tokens.map(async (key) => (await service.fhir('/Patient', { key })).status));
    const settings = { issuer: issuer.url, client_id: 'another', domains: [CLINIC] };
    expect(await statuses()).to.deep.equal([200, 200]);
    await owner.done('PUT', `/organizations/${own}/sso`, settings);
    expect((await ben.ask('GET', '/organizations')).status).to.equal(401);
    expect(await statuses()).to.deep.equal([401, 200]);
    await owner.done('PUT', `/organizations/${own}/sso`, { ...settings, domains: [] });
    expect(await statuses()).to.deep.equal([401, 401]);
  });
});
