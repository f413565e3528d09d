/**
 * Everything that the admin interface wrote is in the log: it is the same after a rebuild and on an instance started later,
 * and it passes verification.
 */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { openEventStore } from '#src/events/open.ts';
import { type AdminUser, newDomain, signIn, trust, withToken } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { startService } from '#test/support/service.ts';

const CLINIC = newDomain('clinic');

describe('admin: what was written', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;
  let organization: string;
  let keys: { readonly works: string; readonly revoked: string; readonly ofDeleted: string };

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, `owner@${CLINIC}`);
    const made = await owner.done('POST', '/sandbox/quickstart', { name: 'Kept' });
    project = made.project.id;
    organization = made.organization.id;
    const person = { issuer: owner.issuer, subject: 'ben', role: 'admin' };
    await owner.done('POST', `/organizations/${organization}/members`, person);
    const gone = new URLSearchParams({ issuer: 'https://idp.example', subject: 'cat' });
    await owner.done('POST', `/organizations/${organization}/members`, {
      issuer: 'https://idp.example',
      subject: 'cat',
      role: 'developer',
    });
    await owner.done('DELETE', `/organizations/${organization}/members?${gone}`);
    const settings = {
      issuer: 'https://idp.example',
      client_id: 'c',
      domains: [CLINIC],
    };
    await owner.done('PUT', `/organizations/${organization}/sso`, settings);
    await owner.done('POST', `/organizations/${organization}/verify`);
    const application = { kind: 'public', redirect_uris: ['https://a.example/'], scopes: ['patient/*.rs'] };
    const applications = `/projects/${project}/applications`;
    const [first, second] = [
      await owner.done('POST', applications, { ...application, name: 'First' }),
      await owner.done('POST', applications, { ...application, name: 'Second', kind: 'confidential' }),
    ];
    await owner.done('PUT', `/applications/${first.id}/branding`, { color: '#123456' });
    await trust(service, first.id);
    await owner.done('DELETE', `/applications/${second.id}`);
    const key = { name: 'k', environment: 'sandbox' };
    const revoked = await owner.done('POST', `/projects/${project}/keys`, key);
    await owner.done('DELETE', `/keys/${revoked.id}`);
    const deleted = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Deleted' });
    const ofDeleted = await owner.done('POST', `/projects/${deleted.id}/keys`, key);
    await owner.done('DELETE', `/projects/${deleted.id}`);
    keys = { works: made.key, revoked: revoked.key, ofDeleted: ofDeleted.key };
  });
  after(() => service.stop());

  const seenBy = async (user: AdminUser) => ({
    organizations: await user.done('GET', '/organizations'),
    members: await user.done('GET', `/organizations/${organization}/members`),
    projects: await user.done('GET', `/organizations/${organization}/projects`),
    // Using a key doesn't write an event.
    keys: (await user.done('GET', `/projects/${project}/keys`)).data.map((key) => ({
      ...key,
      last_used_at: null,
    })),
    applications: await user.done('GET', `/projects/${project}/applications`),
  });
  const opened = async (url: string) => {
    const statuses: number[] = [];
    for (const key of [keys.works, keys.revoked, keys.ofDeleted]) {
      const headers = { Authorization: `Bearer ${key}` };
      statuses.push((await fetch(`${url}/fhir/R4/Patient`, { headers })).status);
    }
    return statuses;
  };

  it('is the same after a rebuild, and on an instance that starts later', async () => {
    const before = await seenBy(owner);
    expect(before.keys.map(({ revoked_at }) => revoked_at === null)).to.deep.equal([false, true]);
    expect(before.applications.data).to.have.length(1);
    expect(before.members.data.map(({ subject }) => subject)).to.deep.equal(['ben', owner.subject]);
    const env = { DATABASE_URL: service.databaseUrl, EVENTSTORE_URL };
    const { code, stdout } = await runCommand(['rebuild', 'projects'], env);
    expect(code, stdout).to.equal(0);
    if (EVENTSTORE_URL === '') expect(stdout).to.match(/^projects\.application +2 +2 +0 +0 +0$/m);
    expect(await seenBy(owner)).to.deep.equal(before);
    expect(await opened(service.url)).to.deep.equal([200, 401, 401]);
    const later = await startService({ databaseUrl: service.databaseUrl, env: { BASE_URL: service.url } });
    expect(await seenBy(withToken(later.url, owner.token, owner))).to.deep.equal(before);
    expect(await opened(later.url)).to.deep.equal([200, 401, 401]);
    await later.stop();
  });

  it('is borne out by verify, which names what was changed', async () => {
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    const check = async () => (await verify({ store, databaseUrl: service.databaseUrl })).readModels;
    expect(await check()).to.deep.equal([]);
    await service.pool.query("update projects.member set role = 'owner' where subject = 'ben'");
    const [difference] = await check();
    expect(JSON.stringify(difference)).to.contain('member').and.to.contain('role');
    await service.pool.query("update projects.member set role = 'admin' where subject = 'ben'");
    await store.close();
  });
});
