/** People who sign in at an organization's own client of an issuer reach that organization and nothing beyond it. */
import { expect } from 'chai';
import { type AdminUser, withToken } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';

describe('admin: single sign-on with an organization’s own client', () => {
  let issuer: TestIssuer;
  let service: InProcess;
  let owner: AdminUser;
  let own: string;
  let others: string;

  /** Somebody with a token of the issuer for one of its clients. */
  async function person(
    subject: string,
    aud: string,
    more: Record<string, unknown> = {},
  ): Promise<AdminUser> {
    const email = `${subject}@clinic.example`;
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
    const settings = { issuer: issuer.url, client_id: 'clinic', domains: ['clinic.example'] };
    await owner.done('PUT', `/organizations/${own}/sso`, settings);
    const member = { issuer: issuer.url, subject: 'ben', role: 'admin' };
    await owner.done('POST', `/organizations/${others}/members`, member);
  });
  after(async () => {
    await service?.stop();
    await issuer.stop();
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

  it('lets them found nothing, and verify nothing', async () => {
    const ben = await person('ben', 'clinic');
    expect((await ben.ask('POST', '/organizations', { name: 'x' })).status).to.equal(403);
    expect((await ben.ask('POST', '/sandbox/quickstart', {})).status).to.equal(403);
    const ownerThere = await person('owner', 'clinic');
    expect(await ownerThere.done('GET', `/organizations/${own}`)).to.include({ role: 'owner' });
    expect((await ownerThere.ask('POST', `/organizations/${own}/verify`)).status).to.equal(403);
    expect((await owner.done('POST', `/organizations/${own}/verify`)).verified).to.equal(true);
  });

  it('needs an address that the issuer has verified', async () => {
    const unverified = await person('cat', 'clinic', { email_verified: false });
    expect((await unverified.done('GET', '/organizations')).total).to.equal(0);
    const elsewhere = await person('dan', 'clinic', { email: 'dan@clinic.example.evil.example' });
    expect((await elsewhere.ask('GET', `/organizations/${own}`)).status).to.equal(404);
  });

  it('refuses tokens of clients that nobody named, and of one that an organization names no more', async () => {
    expect((await (await person('eve', 'nobody')).ask('GET', '/organizations')).status).to.equal(401);
    const ben = await person('ben', 'clinic');
    await owner.done('PUT', `/organizations/${own}/sso`, {
      issuer: issuer.url,
      client_id: 'another',
      domains: ['clinic.example'],
    });
    expect((await ben.ask('GET', '/organizations')).status).to.equal(401);
  });
});
