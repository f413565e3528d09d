/** Inviting members by e-mail address (docs/admin.md, "Invitations"). */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

describe('invitations to an organization', () => {
  let service: InProcess;
  let owner: AdminUser;
  let org: string;

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    org = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
  });
  after(() => service?.stop());

  const path = () => `/organizations/${org}/invitations`;
  const invite = async (email: string, role = 'developer', by = owner) =>
    (await by.done('POST', path(), { email, role })).id;
  const statusOf = async (id: string) =>
    (await owner.done('GET', path())).data.find((each) => each.id === id)?.status;
  const accept = async (who: AdminUser, id: string) =>
    (await who.ask('POST', `/invitations/${id}/accept`)).status;

  it('make whoever has the address a member with that role, once', async () => {
    const made = await owner.ask('POST', path(), { email: 'Ana@Clinic.example', role: 'auditor' });
    expect(made.status).to.equal(201);
    const { id, ...invitation } = JSON.parse(made.text);
    expect(id).to.match(/^minv_/);
    expect(invitation).to.include({
      organization_id: org,
      organization_name: 'Clinic',
      email: 'ana@clinic.example',
      role: 'auditor',
      invited_by: owner.email,
      status: 'pending',
      url: `${service.url}/app`,
    });
    const days = (Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)) / 86_400_000;
    expect(days).to.be.closeTo(14, 0.001);
    const ana = await signIn(service, 'ana@clinic.example');
    const bob = await signIn(service, 'bob@clinic.example');
    expect((await bob.done('GET', '/invitations')).data).to.deep.equal([]);
    expect(await accept(bob, id)).to.equal(404);
    expect((await ana.ask('GET', `/organizations/${org}`)).status).to.equal(404);
    expect((await ana.done('GET', '/invitations')).data).to.deep.equal([{ id, ...invitation }]);
    expect(await ana.done('POST', `/invitations/${id}/accept`)).to.deep.equal({
      organization_id: org,
      organization_name: 'Clinic',
      role: 'auditor',
    });
    expect(await ana.done('GET', `/organizations/${org}`)).to.include({ role: 'auditor' });
    const { data } = await owner.done('GET', `/organizations/${org}/members`);
    expect(data[0]).to.include({ subject: ana.subject, email: 'ana@clinic.example', role: 'auditor' });
    expect(await statusOf(id)).to.equal('accepted');
    expect(await accept(ana, id)).to.equal(404);
    expect((await ana.done('GET', '/invitations')).data).to.deep.equal([]);
    // Only owners and admins change a member's role.
    const again = await invite('ana@clinic.example', 'admin');
    expect(await accept(ana, again)).to.equal(409);
    expect(await ana.done('GET', `/organizations/${org}`)).to.include({ role: 'auditor' });
  });

  it('end when they are withdrawn, replaced or too old', async () => {
    const cid = await signIn(service, 'cid@clinic.example');
    const first = await invite(cid.email);
    const second = await invite(cid.email, 'admin');
    expect([await statusOf(first), await accept(cid, first)]).to.deep.equal(['replaced', 404]);
    expect((await owner.ask('DELETE', `${path()}/${second}`)).status).to.equal(204);
    expect((await owner.ask('DELETE', `${path()}/${second}`)).status).to.equal(204);
    expect([await statusOf(second), await accept(cid, second)]).to.deep.equal(['withdrawn', 404]);
    expect((await owner.ask('DELETE', `${path()}/minv_none`)).status).to.equal(404);
    const third = await invite(cid.email);
    await service.pool.query('update projects.member_invitation set expires_at = 1 where id = $1', [third]);
    expect([await statusOf(third), await accept(cid, third)]).to.deep.equal(['expired', 404]);
  });

  it('are given by those who may give the role, still when they are accepted', async () => {
    const admin = await signIn(service, 'admin@clinic.example');
    await admin.done('POST', `/invitations/${await invite(admin.email, 'admin')}/accept`);
    const dev = await signIn(service, 'dev@clinic.example');
    await dev.done('POST', `/invitations/${await invite(dev.email, 'developer', admin)}/accept`);
    const ask = async (who: AdminUser, role: string) =>
      (await who.ask('POST', path(), { email: 'x@clinic.example', role })).status;
    expect([await ask(admin, 'owner'), await ask(dev, 'developer'), await ask(owner, 'owner')]).to.deep.equal(
      [403, 403, 201],
    );
    const stranger = await signIn(service, 'stranger@elsewhere.example');
    expect([await ask(stranger, 'developer'), (await stranger.ask('GET', path())).status]).to.deep.equal([
      404, 404,
    ]);
    const eve = await signIn(service, 'eve@clinic.example');
    const late = await invite(eve.email, 'admin', admin);
    const { issuer, subject } = admin;
    await owner.done('POST', `/organizations/${org}/members`, { issuer, subject, role: 'developer' });
    expect(await accept(eve, late)).to.equal(409);
    expect((await eve.ask('GET', `/organizations/${org}`)).status).to.equal(404);
  });

  it('name an address and a role', async () => {
    for (const [body, field] of [
      [{ email: 'nobody', role: 'developer' }, 'email'],
      [{ email: 'a@clinic.example', role: 'boss' }, 'role'],
      [{ email: 'a@clinic.example' }, 'role'],
    ] as const) {
      const answer = await owner.ask('POST', path(), body);
      expect([answer.status, answer.text]).to.satisfy(
        ([status, text]: [number, string]) => status === 422 && text.includes(`"field":"${field}"`),
      );
    }
  });
});
