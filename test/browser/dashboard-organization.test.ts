/** The organization's dashboard screen in a real browser. Afterwards, the interfaces return what was set on the screen. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type AdminUser, newDomain, signIn } from '#test/support/admin.ts';
import { accessibilityFaults, picture } from '#test/support/browser.ts';
import { checkLooks, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';

describe('the dashboard: the organization', () => {
  let service: InProcess;
  const dashboard = useDashboard(
    (started) => {
      service = started;
    },
    { PRODUCTION_ACCESS: 'request' },
  );
  const { complaints } = dashboard;

  /** Creates an organization with an owner and a developer whose addresses are in its own domain. */
  const found = async (): Promise<{
    readonly owner: AdminUser;
    readonly developer: AdminUser;
    readonly domain: string;
    readonly project: string;
    readonly organization: string;
  }> => {
    const domain = newDomain('clinic');
    const owner = await signIn(service, `owner@${domain}`);
    const made = await owner.done('POST', '/sandbox/quickstart', { name: 'Clinic' });
    const developer = await signIn(service, `developer@${domain}`);
    const { issuer, subject, email } = developer;
    const member = { issuer, subject, email, role: 'developer' };
    await owner.done('POST', `/organizations/${made.organization.id}/members`, member);
    return { owner, developer, domain, project: made.project.id, organization: made.organization.id };
  };
  const open = async (project: string, email: string): Promise<Page> => {
    const page = await dashboard.open(email);
    await page.goto(`${service.url}/app/projects/${project}/production/organization`);
    await page.getByRole('heading', { level: 1, name: 'Organization' }).waitFor();
    return page;
  };

  it('confirms the domain of an owner’s address', async () => {
    const { owner, domain, project, organization } = await found();
    const page = await open(project, owner.email);
    await page.getByText('No confirmed domain').waitFor();
    await page.getByRole('button', { name: `Confirm ${domain}` }).click();
    await page.getByText(`confirmed for ${domain}`).waitFor();
    expect(await owner.done('GET', `/organizations/${organization}`)).to.include({
      confirmed_domain: domain,
    });
    expect(await page.getByRole('button', { name: /^Confirm / }).count()).to.equal(0);
    expect(complaints).to.deep.equal([]);
  });

  it('sets single sign-on, and names what a change ends before it does', async () => {
    const { owner, domain, project, organization } = await found();
    const sso = async () => (await owner.done('GET', `/organizations/${organization}`)).sso;
    await owner.done('POST', `/organizations/${organization}/verify`);
    const page = await open(project, owner.email);
    await page.getByLabel('Issuer').last().fill('http://login.example.org');
    await page.getByLabel('client_id').fill('dashboard');
    await page.getByLabel('E-mail domains').fill(domain);
    await page.getByRole('button', { name: 'Save' }).click();
    await page
      .getByText(/must be an https URL/)
      .first()
      .waitFor();
    await page.getByLabel('Issuer').last().fill('https://login.example.org');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').waitFor();
    const set = { issuer: 'https://login.example.org', client_id: 'dashboard', domains: [domain] };
    expect(await sso()).to.deep.equal(set);
    await page.getByLabel('Issuer').last().fill('https://other.example.org');
    await page.getByLabel('E-mail domains').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('People who signed in at https://login.example.org lose access').waitFor();
    await dialog.getByText(`People with addresses at ${domain} are no longer developers`).waitFor();
    await dialog.getByText(`The confirmation of ${domain} ends`).waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect(await sso()).to.deep.equal(set);
    await page.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('button', { name: 'Change the sign-in' }).click();
    await page.getByText('No confirmed domain').waitFor();
    expect(await sso()).to.deep.equal({ ...set, issuer: 'https://other.example.org', domains: [] });
    expect(await owner.done('GET', `/organizations/${organization}`)).to.include({ confirmed_domain: null });
  });

  it('invites a colleague, who accepts on the first screen', async () => {
    const { owner, domain, project, organization } = await found();
    let page = await open(project, owner.email);
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail address').fill(`ana@${domain}`);
    await page.getByLabel('Role').selectOption({ index: 1 });
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByRole('dialog').getByRole('button', { name: 'Invite' }).click();
    await page.getByText(`ana@${domain} can accept until`).waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.getByRole('region', { name: 'Invitations' }).getByText('Waiting').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'dashboard-members');
    await page.context().close();
    page = await dashboard.open(`ana@${domain}`);
    await page.goto(`${service.url}/app`);
    await page.getByText('Clinic invites you').waitFor();
    await page.getByText('reads everything').waitFor();
    await picture(page, 'dashboard-invited');
    await page.getByRole('button', { name: 'Accept the invitation of Clinic' }).click();
    await page.getByText('You are an auditor').waitFor();
    const { data } = await owner.done('GET', `/organizations/${organization}/members`);
    expect(data[0]).to.include({ email: `ana@${domain}`, role: 'auditor' });
    expect(complaints).to.deep.equal([]);
  });

  it('asks for production, and shows the state of the request', async () => {
    const { owner, project } = await found();
    const page = await open(project, owner.email);
    await page
      .getByText('This project isn’t allowed to create production keys and applications yet.')
      .waitFor();
    for (const screen of ['keys', 'applications']) {
      await page.goto(`${service.url}/app/projects/${project}/production/${screen}`);
      await page.getByRole('link', { name: 'Ask the operator for it' }).waitFor();
      expect(await page.getByRole('button', { name: /^(?:Create|Register)/ }).count(), screen).to.equal(0);
    }
    await page.getByRole('link', { name: 'Ask the operator for it' }).click();
    await page.getByLabel('What for').fill('A diary of symptoms');
    await page.getByRole('button', { name: 'Ask the operator' }).click();
    await page.getByRole('cell', { name: 'Waiting for an answer' }).waitFor();
    expect(await page.getByRole('button', { name: 'Ask the operator' }).count()).to.equal(0);
    const { data } = await owner.done('GET', `/projects/${project}/production-requests`);
    expect(data.map(({ use, status }) => [use, status])).to.deep.equal([['A diary of symptoms', 'pending']]);
  });

  it('shows a developer how it is, and lets them change nothing', async () => {
    const { owner, developer, domain, project, organization } = await found();
    const set = { issuer: 'https://login.example.org', client_id: 'dashboard', domains: [domain] };
    await owner.done('PUT', `/organizations/${organization}/sso`, set);
    const page = await open(project, developer.email);
    await page.getByText('https://login.example.org').waitFor();
    await page.getByText('Only owners confirm the domain.').waitFor();
    await page.getByText('This project isn’t allowed to create').waitFor();
    expect(await page.locator('main').getByRole('textbox').count()).to.equal(0);
    expect(await page.locator('main').getByRole('button').count()).to.equal(0);
  });

  it('is accessible', async () => {
    const { owner, domain, project, organization } = await found();
    const set = { issuer: 'https://login.example.org', client_id: 'dashboard', domains: [domain] };
    await owner.done('PUT', `/organizations/${organization}/sso`, set);
    await owner.done('POST', `/projects/${project}/production-requests`, { use: 'A diary of symptoms' });
    const page = await open(project, owner.email);
    await page.getByRole('cell', { name: 'Waiting for an answer' }).waitFor();
    await checkLooks(page, 'app-organization');
  });
});
