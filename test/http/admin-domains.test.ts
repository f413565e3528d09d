/** Organizations' e-mail domains: single sign-on by domain, discovery, verification. */
import { expect } from 'chai';
import { devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { CLIENT_ID, ISSUER } from '#src/http/webfinger.ts';
import { type AdminUser, newDomain, signIn, withToken } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const CLINIC = newDomain('clinic');
const SSO = newDomain('sso');
const RACED = newDomain('raced');
const SECOND = newDomain('b');
const ELSEWHERE = newDomain('other-place');

interface Sso {
  readonly issuer: string;
  readonly client_id: string;
  readonly domains: readonly string[];
}

describe('admin: domains of organizations', () => {
  let service: InProcess;
  let owner: AdminUser;
  let stranger: AdminUser;
  let org: string;

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, `owner@${CLINIC}`);
    stranger = await signIn(service, 'sam@elsewhere.example');
    org = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
  });
  after(() => service.stop());

  /** Sends a request without credentials. */
  const webfinger = (query: Record<string, string>): Promise<Response> =>
    fetch(`${service.url}/.well-known/webfinger?${new URLSearchParams(query)}`);

  /** Configures, as the owner, where people sign in. An admin whose address is in the domain then adds the domain. */
  async function configure(id: string, founder: AdminUser, settings: Sso, email: string): Promise<void> {
    const { issuer, subject, ask } = await signIn(service, email);
    await founder.done('POST', `/organizations/${id}/members`, { issuer, subject, role: 'admin' });
    const known = settings.domains.filter((domain) => !email.endsWith(`@${domain}`));
    const path = `/organizations/${id}/sso`;
    await founder.done('PUT', path, { ...settings, domains: known });
    expect((await ask('PUT', path, settings)).status).to.equal(200);
  }

  describe('single sign-on', () => {
    /** Another installation, whose development issuer is the organization's identity provider. */
    let elsewhere: InProcess;
    let provider: { readonly issuer: string; signIn(email: string): Promise<AdminUser> };
    before(async () => {
      elsewhere = await startInProcess();
      const issuer = devIssuerUrl(elsewhere.url);
      provider = {
        issuer,
        async signIn(email) {
          const { token, subject } = await signIn(elsewhere, email);
          return withToken(service.url, token, { email, issuer, subject });
        },
      };
    });
    after(() => elsewhere.stop());

    it('makes developers of people with a verified address of the domain who sign in with the issuer', async () => {
      const owner = await signIn(service, `owner@${SSO}`);
      const { id } = await owner.done('POST', '/organizations', { name: 'SSO' });
      const settings = {
        issuer: provider.issuer,
        client_id: 'annal',
        domains: [SSO.replace('sso', 'SSO'), `two.${SSO}`],
      };
      const joiner = await provider.signIn(`new@${SSO}`);
      expect((await joiner.ask('GET', `/organizations/${id}`)).status).to.equal(401);
      const lower = { ...settings, domains: [SSO, `two.${SSO}`] };
      await configure(id, owner, lower, `admin@two.${SSO}`);
      const set = await owner.done('PUT', `/organizations/${id}/sso`, settings);
      expect(set).to.deep.equal(lower);
      expect(await owner.done('PUT', `/organizations/${id}/sso`, settings)).to.deep.equal(set);
      expect(await joiner.done('GET', `/organizations/${id}`)).to.deep.include({
        role: 'developer',
        sso: set,
      });
      expect((await joiner.done('GET', '/organizations')).total).to.equal(1);
      const lookAlike = await provider.signIn(`new@not${SSO}`);
      expect((await lookAlike.ask('GET', `/organizations/${id}`)).status).to.equal(404);

      expect(await stranger.done('GET', `/sso/discover?email=Who@${SSO.toUpperCase()}`)).to.deep.equal({
        organization: 'SSO',
        issuer: provider.issuer,
        client_id: 'annal',
      });
      expect((await stranger.ask('GET', '/sso/discover?email=who@none.example')).status).to.equal(404);
      const account = `acct:Who@${SSO.toUpperCase()}`;
      const found = await webfinger({ resource: account });
      expect(found.headers.get('content-type')).to.equal('application/jrd+json');
      expect(found.headers.get('access-control-allow-origin')).to.equal('*');
      const properties = { [CLIENT_ID]: 'annal' };
      expect(await found.json()).to.deep.equal({
        subject: account,
        links: [{ rel: ISSUER, href: provider.issuer, properties }],
      });
      const unlinked = await webfinger({ resource: account, rel: 'http://webfinger.net/rel/avatar' });
      expect(await unlinked.json()).to.deep.equal({ subject: account, links: [] });

      // A person who was added individually and then removed stays out.
      const { issuer, subject } = joiner;
      await owner.done('POST', `/organizations/${id}/members`, { issuer, subject, role: 'admin' });
      // A token that only the organization trusts gives no higher role.
      expect((await joiner.done('GET', `/organizations/${id}`)).role).to.equal('developer');
      await owner.done('DELETE', `/organizations/${id}/members?${new URLSearchParams({ issuer, subject })}`);
      expect((await joiner.ask('GET', `/organizations/${id}`)).status).to.equal(404);
      // Without the domain, nobody gets in.
      const other = await provider.signIn(`other@${SSO}`);
      expect((await other.ask('GET', `/organizations/${id}`)).status).to.equal(200);
      await owner.done('PUT', `/organizations/${id}/sso`, { ...settings, domains: [] });
      expect((await other.ask('GET', `/organizations/${id}`)).status).to.equal(404);
    });

    it('answers alike for all domains that nobody has, and names what is no account', async () => {
      const [one, two] = await Promise.all(
        ['one', 'two'].map(async (name) => {
          const answer = await webfinger({ resource: `acct:who@${name}.none.example` });
          const { error } = JSON.parse(await answer.text());
          return { status: answer.status, type: error.type, message: error.message };
        }),
      );
      expect(one).to.deep.equal(two);
      expect(one?.status).to.equal(404);
      const wrong: Record<string, string>[] = [
        {},
        { resource: `who@${SSO}` },
        { resource: 'acct:who' },
        { resource: 'acct:who@none.example\0' },
        { resource: `acct:${'w'.repeat(400)}@${SSO}` },
      ];
      for (const query of wrong) {
        const answer = await webfinger(query);
        expect(answer.status, JSON.stringify(query)).to.equal(400);
        expect(JSON.parse(await answer.text()).error.field).to.equal('query.resource');
      }
      for (const resource of [`https://${SSO}/who`, `mailto:who@${SSO}`])
        expect((await webfinger({ resource })).status, resource).to.equal(404);
    });

    it('gives a domain to one organization, also when many ask at once', async () => {
      const racer = await signIn(service, `owner@${RACED}`);
      const ids: string[] = [];
      for (const n of [1, 2, 3, 4])
        ids.push((await racer.done('POST', '/organizations', { name: `Race ${n}` })).id);
      const settings = { issuer: 'https://idp.example', client_id: 'c', domains: [RACED] };
      const answers = await Promise.all(
        ids.map((id) => racer.ask('PUT', `/organizations/${id}/sso`, settings)),
      );
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409, 409, 409]);
      const won = ids[answers.findIndex(({ status }) => status === 200)] ?? '';
      const both = { ...settings, domains: [RACED, SECOND] };
      await configure(won, racer, both, `admin@${SECOND}`);
      const lost = await racer.ask('PUT', `/organizations/${ids.find((id) => id !== won)}/sso`, both);
      const { error } = JSON.parse(lost.text);
      expect([lost.status, ...error.errors.map(({ field }: { field: string }) => field)]).to.deep.equal([
        409,
        'domains.0',
        'domains.1',
      ]);
      expect(lost.text).to.not.contain('org_');
    });

    const wrong: [string, object, string][] = [
      ['an issuer over http', { issuer: 'http://idp.example' }, 'issuer'],
      ['an issuer with a query', { issuer: 'https://idp.example/?a' }, 'issuer'],
      ['no client', { client_id: '' }, 'client_id'],
      ['a domain that is none', { domains: ['clinic'] }, 'domains.0'],
      ['an address in the place of a domain', { domains: [`a@${CLINIC}`] }, 'domains.0'],
      ['a domain twice', { domains: ['a.example', 'A.example'] }, 'domains'],
    ];
    for (const [what, more, field] of wrong) {
      it(`refuses ${what}`, async () => {
        const settings = { issuer: 'https://idp.example', client_id: 'c', domains: ['x.example'], ...more };
        const answer = await owner.ask('PUT', `/organizations/${org}/sso`, settings);
        expect([answer.status, JSON.parse(answer.text).error.field]).to.deep.equal([422, field]);
      });
    }
  });

  it('are confirmed by the address of an owner, in the domains of single sign-on where there are some', async () => {
    const { id } = await owner.done('POST', '/organizations', { name: 'Confirmed' });
    const confirmed = await owner.done('POST', `/organizations/${id}/verify`);
    expect(confirmed.confirmed_domain).to.equal(CLINIC);
    expect(Object.keys(confirmed).join()).not.to.contain('verified');
    expect(await owner.done('GET', `/organizations/${id}`)).to.deep.equal(confirmed);
    expect(await owner.done('POST', `/organizations/${id}/verify`)).to.deep.equal(confirmed);
    const sso = { issuer: 'https://idp.example', client_id: 'c', domains: [ELSEWHERE] };
    const { id: other } = await owner.done('POST', '/organizations', { name: 'Other' });
    await configure(other, owner, sso, `admin@${ELSEWHERE}`);
    const refusal = await owner.ask('POST', `/organizations/${other}/verify`);
    expect([refusal.status, refusal.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 403 && text.includes(CLINIC),
    );
  });

  it('of public mail providers are not confirmed, in any form', async () => {
    for (const domain of ['gmail.com', 'GMAIL.COM', 'sub.gmail.com', 'ｇmail.com', 'gmx.de', 'müll.email']) {
      const anyone = await signIn(service, `mayo@${domain}`);
      const { id } = await anyone.done('POST', '/organizations', { name: 'Mayo Clinic' });
      const refused = await anyone.ask('POST', `/organizations/${id}/verify`);
      expect([refused.status, JSON.parse(refused.text).error.type], domain).to.deep.equal([422, 'invalid']);
      expect((await anyone.done('GET', `/organizations/${id}`)).confirmed_domain).to.equal(null);
    }
  });

  it('are confirmed no longer when they are not among those of single sign-on', async () => {
    const { id } = await owner.done('POST', '/organizations', { name: 'Moved' });
    const issuer = 'https://idp.example';
    const put = (...domains: string[]) =>
      owner.done('PUT', `/organizations/${id}/sso`, { issuer, client_id: 'c', domains });
    const seen = async () => (await owner.done('GET', `/organizations/${id}`)).confirmed_domain;
    await put();
    await owner.done('POST', `/organizations/${id}/verify`);
    expect(await seen()).to.equal(CLINIC);
    await put(CLINIC);
    expect(await seen()).to.equal(CLINIC);
    await put();
    expect(await seen()).to.equal(null);
    expect((await owner.done('POST', `/organizations/${id}/verify`)).confirmed_domain).to.equal(CLINIC);
    expect(await seen()).to.equal(CLINIC);
  });
});
