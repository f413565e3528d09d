/**
 * Signing in at an organization's own issuer: the session gives access to `/app/api/admin` and nothing else (docs/gateway.md).
 */
import { expect } from 'chai';
import { issuerKey, ssoKey } from '#src/signin/relying-party.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { withSession } from '#test/support/gateway.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { CLIENT, startIssuer, type TestIssuer } from '#test/support/oidc-provider.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the sign-in at an organization’s own issuer', () => {
  let service: InProcess;
  let issuer: TestIssuer;
  let owner: AdminUser;
  let organization: string;
  let project: string;

  const DOMAIN = 'example.org';
  const settings = (client_id = CLIENT, domains = [DOMAIN]) =>
    owner.done('PUT', `/organizations/${organization}/sso`, { issuer: issuer.url, client_id, domains });

  before(async () => {
    service = await startInProcess();
    issuer = await startIssuer();
    owner = await signIn(service, `owner@${DOMAIN}`);
    organization = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
    await settings();
    await issuer.register(`${service.url}/signin/callback/${ssoKey(issuer.url, CLIENT)}`);
  });
  after(async () => {
    await service?.stop();
    await issuer?.stop();
    await removeTemporaryFolders();
  });

  async function signedIn(login = 'ada', sso = `Ada@${DOMAIN}`): Promise<PageVisitor> {
    const visitor = new PageVisitor(service.url);
    await visitor.open(`/signin?${new URLSearchParams({ sso, return_to: '/signin/out?lang=en' })}`);
    await visitor.submit({ login, password: 'any' });
    if (visitor.page.url.startsWith(issuer.url)) await visitor.submit();
    expect(visitor.page.text).to.include(`Person ${login}`);
    return visitor;
  }
  const sessionOf = (visitor: PageVisitor) =>
    withSession(service.url, visitor.cookie('annal_session') ?? '', 'ada');

  it('opens /admin alone, as a developer of the organization', async () => {
    const session = sessionOf(await signedIn());
    const organizations = await session.ask('/admin/organizations');
    expect(organizations.status, organizations.text).to.equal(200);
    expect(
      JSON.parse(organizations.text).data.map(({ id, role }: { id: string; role: string }) => [id, role]),
    ).to.deep.equal([[organization, 'developer']]);
    expect((await session.ask(`/admin/projects/${project}`)).status).to.equal(200);
    const headers = { 'X-Service-Project': project };
    for (const path of [
      '/me/patients',
      '/me/access-requests',
      '/v1/patients',
      '/fhir/R4/Patient',
      '/fhir/R4/metadata',
    ]) {
      const answer = await session.ask(path, { headers });
      expect([answer.status, answer.text.includes('opens only /admin')], path).to.deep.equal([403, true]);
    }
    const token = await session.ask(`/admin/projects/${project}/tokens`, {
      method: 'POST',
      body: { environment: 'sandbox' },
    });
    expect(token.status).to.equal(403);
  });

  it('is no sign-in on the pages of patients, and can be ended', async () => {
    const visitor = await signedIn();
    const invitation = await visitor.step('/invitations/open/0123456789abcdef0123456789abcdef');
    expect(invitation.headers.get('location') ?? invitation.text).to.not.include('Person ada');
    const session = sessionOf(visitor);
    await visitor.open('/signin/out?lang=en');
    expect(visitor.page.text).to.include('You are signed in');
    await visitor.submit();
    expect((await session.ask('/admin/organizations')).status).to.equal(401);
  });

  it('ends with the organization’s settings', async () => {
    const session = sessionOf(await signedIn('ben'));
    const status = async () => (await session.ask('/admin/organizations')).status;
    expect(await status()).to.equal(200);
    await settings('another-client');
    expect(await status()).to.equal(401);
    await settings();
    expect(await status()).to.equal(200);
  });

  it('starts only where an organization has the domain, at the redirect URI of its client alone', async () => {
    const unknown = await new PageVisitor(service.url).open('/signin?sso=nobody.example&lang=en');
    expect(unknown.status).to.equal(404);
    const visitor = new PageVisitor(service.url);
    const first = await visitor.step(`/signin?sso=${DOMAIN}`);
    const asked = new URL(first.headers.get('location') ?? '');
    expect(asked.origin).to.equal(issuer.url);
    expect(asked.searchParams.get('redirect_uri')).to.equal(
      `${service.url}/signin/callback/${ssoKey(issuer.url, CLIENT)}`,
    );
    // A response sent to another client's redirect URI doesn't belong to this sign-in, and makes the sign-in unusable.
    for (const key of [ssoKey(issuer.url, 'another-client'), issuerKey(issuer.url)]) {
      const again = new PageVisitor(service.url);
      const begun = await again.step(`/signin?sso=${DOMAIN}`);
      const state = new URL(begun.headers.get('location') ?? '').searchParams.get('state') ?? '';
      const query = new URLSearchParams({ code: 'x', state, iss: issuer.url });
      const page = await again.open(`/signin/callback/${key}?${query}`);
      expect(page.status, key).to.equal(400);
      expect(again.cookie('annal_session')).to.equal(undefined);
    }
    expect(
      (await new PageVisitor(service.url).open(`/signin/callback/${'0'.repeat(16)}?code=x`)).status,
    ).to.equal(404);
  });
});
