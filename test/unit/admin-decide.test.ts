/** Decisions about organizations, projects and applications, as given · when · then over events. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import * as application from '#commands/application/decide.ts';
import { registration } from '#commands/application/registration.ts';
import { APPLICATION } from '#commands/application/state.ts';
import * as organization from '#commands/organization/decide.ts';
import { ORGANIZATION } from '#commands/organization/state.ts';
import * as project from '#commands/project/decide.ts';
import { issueKey } from '#commands/project/key.ts';
import * as production from '#commands/project/production.ts';
import { PROJECT } from '#commands/project/state.ts';
import type { PlainEvent } from '#src/events/catalog.ts';
import { BEGINNING, given } from '#test/support/given.ts';

const ANN = { issuer: 'https://idp.example', subject: 'ann' };
const BEN = { issuer: 'https://idp.example', subject: 'ben' };
const OWNER = { role: 'owner', domain: undefined } as const;
/** A subject of one issuer means nothing at another issuer. */
const OTHER_ANN = { issuer: 'https://other.example', subject: 'ann' };

describe('deciding on organizations', () => {
  const created: PlainEvent = {
    type: 'OrganizationCreated',
    data: { organization_id: 'org_1', name: 'Clinic', founder: ANN },
  };
  const added = (person: typeof ANN, role: 'owner' | 'admin' | 'developer'): PlainEvent => ({
    type: 'OrganizationMemberAdded',
    data: { ...person, role },
  });
  const sso: PlainEvent = {
    type: 'OrganizationSsoConfigured',
    data: { issuer: 'https://idp.example', client_id: 'c', domains: ['a.example', 'b.example'] },
  };
  const settled = (domains: string[]): PlainEvent => ({
    type: 'OrganizationSsoConfigured',
    data: { issuer: 'https://idp.example', client_id: 'c', domains },
  });
  const on = (...events: PlainEvent[]) => given(ORGANIZATION, [created, ...events]);

  it('given nothing, when it is founded, then its founder stands in the event', () => {
    const create = organization.create('org_1', 'Clinic', ANN);
    given(ORGANIZATION, []).when(create).thenEvents(created);
    on()
      .when(create)
      .thenFault(/already exists/);
  });

  it('given nothing, when it is changed, then 404', () => {
    for (const decide of [
      organization.addMember('org_1', BEN, 'admin'),
      organization.removeMember('org_1', BEN),
      organization.configureSso('org_1', { issuer: 'i', client_id: 'c', domains: [] }, OWNER),
      organization.confirmDomain('org_1', 'a.example'),
    ]) {
      given(ORGANIZATION, []).when(decide).thenRefused('not_found');
    }
  });

  it('given a member, when it gets the role that it has, then nothing happens; else the new one', () => {
    const state = on(added(BEN, 'admin'));
    state.when(organization.addMember('org_1', BEN, 'admin')).thenNothing();
    state.when(organization.addMember('org_1', BEN, 'developer')).thenEvents(added(BEN, 'developer'));
  });

  it('given one owner, when they are removed or demoted, then 409; given two, then it happens', () => {
    const removal = organization.removeMember('org_1', ANN);
    const demotion = organization.addMember('org_1', ANN, 'admin');
    for (const decide of [removal, demotion]) {
      on(added(BEN, 'admin')).when(decide).thenRefused('conflict');
      expect(on(added(BEN, 'owner')).when(decide).drafts).to.have.length(1);
    }
    on(added(BEN, 'owner'), added(BEN, 'admin')).when(removal).thenRefused('conflict');
  });

  it('given two members, when one is removed, then they are; when they are none, then 404', () => {
    const removed: PlainEvent = { type: 'OrganizationMemberRemoved', data: BEN };
    const removal = organization.removeMember('org_1', BEN);
    on(added(BEN, 'admin')).when(removal).thenEvents(removed);
    on(added(BEN, 'admin'), removed)
      .when(removal)
      .thenRefused('not_found', /not a member/);
  });

  it('given a subject of one issuer, when that of another is removed, then 404', () => {
    on().when(organization.removeMember('org_1', OTHER_ANN)).thenRefused('not_found');
  });

  it('given an organization of before founders were noted, then it can be added to', () => {
    const old: PlainEvent = { type: 'OrganizationCreated', data: { organization_id: 'org_1', name: 'Old' } };
    const state = given(ORGANIZATION, [old]);
    state.when(organization.addMember('org_1', ANN, 'owner')).thenEvents(added(ANN, 'owner'));
  });

  it('given settings of single sign-on, when the same come again, then nothing happens', () => {
    const same = { issuer: 'https://idp.example', client_id: 'c', domains: ['a.example', 'b.example'] };
    on(sso)
      .when(organization.configureSso('org_1', same, OWNER))
      .thenNothing();
    for (const more of [{ issuer: 'x' }, { client_id: 'x' }, { domains: ['a.example'] }, { domains: [] }]) {
      expect(
        on(sso).when(organization.configureSso('org_1', { ...same, ...more }, OWNER)).drafts,
      ).to.have.length(1);
    }
  });

  const claims: [string, PlainEvent[], object, object, string[] | undefined][] = [
    // Columns: name, given events, settings, claim, elements that are refused
    [
      'the domain of the caller',
      [sso],
      { domains: ['a.example', 'c.example'] },
      { domain: 'c.example' },
      undefined,
    ],
    ['domains of others', [sso], { domains: ['x.example', 'a.example', 'y.example'] }, {}, ['0', '2']],
    ['a domain without an address', [], { domains: ['c.example'] }, { domain: undefined }, ['0']],
    ['a domain below the caller’s', [], { domains: ['b.c.example'] }, {}, ['0']],
    ['a domain above the caller’s', [], { domains: ['example'] }, {}, ['0']],
    [
      'domains that are there, another having been given up',
      [sso],
      { domains: ['b.example'] },
      {},
      undefined,
    ],
    ['a domain that was given up', [sso, settled([])], { domains: ['a.example'] }, {}, ['0']],
    ['domains, by an admin', [sso], { domains: ['c.example'] }, { role: 'admin' }, undefined],
    [
      'another issuer, by an admin',
      [sso],
      { issuer: 'https://x.example', domains: [] },
      { role: 'admin' },
      [],
    ],
    ['another client, by an admin', [sso], { client_id: 'x', domains: [] }, { role: 'admin' }, []],
    ['the first settings, by an admin', [], { domains: [] }, { role: 'admin' }, []],
    [
      'another issuer and client',
      [sso],
      { issuer: 'https://x.example', client_id: 'x', domains: [] },
      {},
      undefined,
    ],
  ];
  for (const [what, events, settings, claim, refused] of claims) {
    it(`when single sign-on names ${what}, then ${refused === undefined ? 'it is so' : '403'}`, () => {
      const all = { issuer: 'https://idp.example', client_id: 'c', domains: [], ...settings };
      const decide = organization.configureSso('org_1', all, {
        role: 'owner',
        domain: 'c.example',
        ...claim,
      });
      if (refused === undefined)
        on(...events)
          .when(decide)
          .thenEvents({ ...sso, data: all });
      else {
        const { issues } = on(...events)
          .when(decide)
          .thenRefused('forbidden');
        const fields = refused.length === 0 ? [undefined] : refused.map((index) => `domains.${index}`);
        expect(issues.map(({ expression }) => expression)).to.deep.equal(fields);
      }
    });
  }

  it('given a confirmed domain, when settings are without it, then it is confirmed no longer', () => {
    const verified: PlainEvent = { type: 'OrganizationVerified', data: { domain: 'a.example' } };
    const again = organization.confirmDomain('org_1', 'a.example');
    for (const [events, count] of [
      [[verified, sso], 0],
      [[verified, settled(['b.example'])], 'refused'],
      [[verified, settled(['b.example']), sso], 1],
      [[verified, settled([])], 1],
    ] as const) {
      if (count === 'refused')
        on(...events)
          .when(again)
          .thenRefused('forbidden');
      else expect(on(...events).when(again).drafts).to.have.length(count);
    }
  });

  it('given domains, when an owner confirms another one, then 403', () => {
    expect(on().when(organization.confirmDomain('org_1', 'x.example')).drafts).to.have.length(1);
    expect(on(sso).when(organization.confirmDomain('org_1', 'b.example')).drafts).to.have.length(1);
    on(sso).when(organization.confirmDomain('org_1', 'x.example')).thenRefused('forbidden');
    const verified: PlainEvent = { type: 'OrganizationVerified', data: { domain: 'a.example' } };
    on(verified).when(organization.confirmDomain('org_1', 'a.example')).thenNothing();
  });

  it('given anything, when a domain of public mail is confirmed or claimed, then 422', () => {
    const domains = ['gmail.com', 'eu.gmail.com', 'gmx.de', 'yahoo.co.jp', 'xn--mll-hoa.email', 'müll.email'];
    for (const domain of domains) {
      on().when(organization.confirmDomain('org_1', domain)).thenRefused('invalid');
      const claim = { ...OWNER, domain };
      const settings = { issuer: 'i', client_id: 'c', domains: ['a.example', domain] };
      const proved = { ...claim, domain: 'a.example' };
      for (const by of [claim, proved]) {
        const { issues } = on()
          .when(organization.configureSso('org_1', settings, by))
          .thenRefused('invalid');
        expect(issues.map(({ expression }) => expression)).to.deep.equal(['domains.1']);
      }
    }
    expect(on().when(organization.confirmDomain('org_1', 'mayo.edu')).drafts).to.have.length(1);
  });
});

describe('deciding on projects', () => {
  const opened: PlainEvent = {
    type: 'ProjectCreated',
    data: { project_id: 'proj_1', organization_id: 'org_1', name: 'Pilot' },
  };
  const deleted: PlainEvent = { type: 'ProjectDeleted', data: { project_id: 'proj_1' } };
  const { key, event } = issueKey(
    'key_1',
    { name: 'k', environment: 'production', scopes: ['read'] },
    Buffer.alloc(32, 7),
  );
  const revoked: PlainEvent = { type: 'ApiKeyRevoked', data: { key_id: 'key_1' } };

  it('when a key is issued, then the event holds its hash and its end, not itself', () => {
    expect(key).to.match(/^sk_live_[\w-]{43}$/);
    expect(event.data).to.include({
      sha256: createHash('sha256').update(key).digest('hex'),
      last4: key.slice(-4),
    });
    expect(JSON.stringify(event)).to.not.contain(key.slice(8, -4));
  });

  it('given nothing, when a project is opened, then with what comes at once', () => {
    const create = project.create('proj_1', 'org_1', 'Pilot', [event]);
    given(PROJECT, []).when(create).thenEvents(opened, event);
    given(PROJECT, [opened])
      .when(create)
      .thenFault(/already exists/);
    given(PROJECT, [opened]).when(project.remove('proj_1')).thenEvents(deleted);
  });

  it('given a key, when it is revoked, then once; one that never was: 404', () => {
    const revoke = project.revokeKey('proj_1', 'key_1');
    given(PROJECT, [opened, event]).when(revoke).thenEvents(revoked);
    given(PROJECT, [opened, event, revoked]).when(revoke).thenNothing();
    given(PROJECT, [opened]).when(revoke).thenRefused('not_found');
  });

  describe('when production is by request', () => {
    const allowed: PlainEvent = { type: 'ProductionAccessAllowed', data: { project_id: 'proj_1' } };
    const withdrawn: PlainEvent = { type: 'ProductionAccessWithdrawn', data: { project_id: 'proj_1' } };
    const requested: PlainEvent = {
      type: 'ProductionAccessRequested',
      data: { project_id: 'proj_1', request_id: 'preq_1', use: 'a diary' },
    };
    const refusal = { project_id: 'proj_1', request_id: 'preq_1' };
    const refused: PlainEvent = { type: 'ProductionAccessRefused', data: refusal };
    const access = 'request';
    const on = (...events: PlainEvent[]) => given(PROJECT, [opened, ...events]);
    const createKey = project.createKey('proj_1', event, { access });

    it('given no access, then no key of production, with the way to ask; of the sandbox, one', () => {
      for (const before of [[], [allowed, withdrawn], [requested, refused]])
        on(...before)
          .when(createKey)
          .thenRefused(
            'forbidden',
            /production keys need approval here.*POST \/admin\/projects\/proj_1\/production-requests.*annal production allow proj_1/,
          );
      on(requested)
        .when(createKey)
        .thenRefused(
          'forbidden',
          /the request preq_1 is pending: an operator.*annal production allow proj_1/,
        );
      on(allowed).when(createKey).thenEvents(event);
      on()
        .when(project.createKey('proj_1', event, { access: 'open' }))
        .thenEvents(event);
      const sandbox: typeof event = { ...event, data: { ...event.data, environment: 'sandbox' } };
      on()
        .when(project.createKey('proj_1', sandbox, { access }))
        .thenEvents(sandbox);
    });

    it('given keys of production from before, then access, until it is withdrawn, and again by a later key', () => {
      for (const before of [[event], [event, revoked], [allowed, withdrawn, event]])
        on(...before)
          .when(createKey)
          .thenEvents(event);
      on(event, withdrawn).when(createKey).thenRefused('forbidden');
    });

    it('given applications of production from before, then access, until it is withdrawn', () => {
      // The project was opened at time BEGINNING; each of the events below is one microsecond later.
      const since = (newestApplication: number) =>
        project.createKey('proj_1', event, { access, newestApplication });
      on().when(since(BEGINNING)).thenEvents(event);
      on(withdrawn).when(since(BEGINNING)).thenRefused('forbidden');
      on(withdrawn)
        .when(since(BEGINNING + 2))
        .thenEvents(event);
    });

    it('given no access, when it is asked for, then once; given access, 409', () => {
      const ask = production.requestProduction('proj_1', 'preq_1', 'a diary', { access });
      on().when(ask).thenEvents(requested);
      on(requested, refused).when(ask).thenEvents(requested);
      on(allowed, withdrawn).when(ask).thenEvents(requested);
      on(requested)
        .when(ask)
        .thenRefused('conflict', /preq_1 .*is waiting/);
      for (const before of [[allowed], [event]])
        on(...before)
          .when(ask)
          .thenRefused('conflict', /already/);
      for (const rule of [{ access: 'open' }, { access, newestApplication: BEGINNING }] as const)
        on()
          .when(production.requestProduction('proj_1', 'preq_1', 'a diary', rule))
          .thenRefused('conflict', /already/);
    });

    it('when an operator allows, then once, also what was asked for by a project that had it before', () => {
      const allow = production.allowProduction('proj_1');
      for (const before of [[], [requested], [requested, refused], [event, requested], [allowed, withdrawn]])
        on(...before)
          .when(allow)
          .thenEvents(allowed);
      on(allowed).when(allow).thenNothing();
      on(requested, allowed).when(allow).thenNothing();
    });

    it('when an operator refuses, then the request that waits, with a reason if there is one', () => {
      const refuse = production.refuseProduction('proj_1');
      on(requested).when(refuse).thenEvents(refused);
      on(requested)
        .when(production.refuseProduction('proj_1', 'no domain'))
        .thenEvents({ type: 'ProductionAccessRefused', data: { ...refusal, reason: 'no domain' } });
      for (const before of [[], [requested, refused], [requested, allowed]])
        on(...before)
          .when(refuse)
          .thenRefused('conflict', /proj_1 has no production request/);
    });

    it('when an operator withdraws, then once, and again when something of production was made since', () => {
      const withdraw = production.withdrawProduction('proj_1');
      for (const before of [[], [allowed], [event], [withdrawn, event]])
        on(...before)
          .when(withdraw)
          .thenEvents(withdrawn);
      on(allowed, withdrawn).when(withdraw).thenNothing();
      on(withdrawn)
        .when(production.withdrawProduction('proj_1', BEGINNING + 2))
        .thenEvents(withdrawn);
    });
  });

  it('given no project, or one that is deleted, then 404 whatever is asked', () => {
    for (const decide of [
      project.remove('proj_1'),
      project.createKey('proj_1', event),
      project.revokeKey('proj_1', 'key_1'),
      production.requestProduction('proj_1', 'preq_1', 'x', { access: 'request' }),
      production.refuseProduction('proj_1'),
      production.allowProduction('proj_1'),
      production.withdrawProduction('proj_1'),
    ]) {
      given(PROJECT, []).when(decide).thenRefused('not_found');
      given(PROJECT, [opened, event, deleted]).when(decide).thenRefused('not_found');
    }
  });

  it('given erasures of records in its stream, then it is as before', () => {
    const erased: PlainEvent = {
      type: 'RecordErased',
      data: { patient: 'p', environment: 'sandbox', grants: [], access_log: { entries: 0, hash: null } },
    };
    given(PROJECT, [opened, erased]).when(project.remove('proj_1')).thenEvents(deleted);
  });
});

describe('deciding on applications', () => {
  const asked = {
    name: 'Diary',
    environment: 'sandbox',
    kind: 'confidential',
    redirect_uris: ['https://a.example/'],
    scopes: ['patient/*.rs'],
    grant_types: ['authorization_code'],
  } as const;
  const ids = { application: 'app_1', project: 'proj_1', client: 'client_1' };
  const { data, secret } = registration(ids, asked, Buffer.alloc(32, 7));
  const registered: PlainEvent = { type: 'ApplicationRegistered', data };
  const trusted: PlainEvent = { type: 'ApplicationTrusted', data: { trusted: true } };
  const deleted: PlainEvent = { type: 'ApplicationDeleted', data: { application_id: 'app_1' } };
  const opened: PlainEvent = {
    type: 'ProjectCreated',
    data: { project_id: 'proj_1', organization_id: 'org_1', name: 'Pilot' },
  };
  const owner = (...events: PlainEvent[]) => given(PROJECT, events).state;

  it('when one is registered, then the event holds the hash of its secret; a public one has none', () => {
    expect(secret).to.match(/^cs_[\w-]{43}$/);
    expect(data.secret_sha256).to.equal(
      createHash('sha256')
        .update(secret ?? '')
        .digest('hex'),
    );
    const open = registration(ids, { ...asked, kind: 'public' }, undefined);
    expect([open.secret, open.data.secret_sha256]).to.deep.equal([undefined, undefined]);
  });

  it('given a secret, when it is rotated, then the one before works for the overlap and any other ends', () => {
    const now = 1_795_000_000_000_000;
    const first = data.secret_sha256 ?? '';
    const rotate = (sha256: string, overlap = 0) =>
      application.rotateSecret('app_1', sha256, { overlap, now });
    const rotatedTo = (
      secret_sha256: string,
      sha256?: string,
      until = '2026-11-18T11:06:41.000000Z',
    ): PlainEvent => ({
      type: 'ApplicationSecretRotated',
      data: { secret_sha256, ...(sha256 === undefined ? {} : { previous: { sha256, until } }) },
    });
    const state = given(APPLICATION, [registered]);
    state.when(rotate('aa', 1_000_000)).thenEvents(rotatedTo('aa', first));
    state.when(rotate('aa')).thenEvents(rotatedTo('aa'));
    const twice = given(APPLICATION, [registered, rotatedTo('aa', first)]);
    twice.when(rotate('bb', 1_000_000)).thenEvents(rotatedTo('bb', 'aa'));
    twice.when(rotate('aa', 5)).thenNothing();
    const open = registration(ids, { ...asked, kind: 'public' }, undefined).data;
    const keyed = registration(ids, { ...asked, jwks_uri: 'https://a.example/jwks' }, undefined).data;
    for (const each of [open, keyed])
      given(APPLICATION, [{ type: 'ApplicationRegistered', data: each }])
        .when(rotate('aa'))
        .thenRefused('conflict', /has no secret/);
  });

  it('given nothing, when one is registered, then once', () => {
    const register = application.register(data, owner(opened));
    given(APPLICATION, []).when(register).thenEvents(registered);
    given(APPLICATION, [registered])
      .when(register)
      .thenFault(/already exists/);
    given(APPLICATION, [registered]).when(application.remove('app_1')).thenEvents(deleted);
  });

  it('given no access to production, when it is by request, then none of production; of the sandbox, one', () => {
    const allowed: PlainEvent = { type: 'ProductionAccessAllowed', data: { project_id: 'proj_1' } };
    const withdrawn: PlainEvent = { type: 'ProductionAccessWithdrawn', data: { project_id: 'proj_1' } };
    const live = { ...data, environment: 'production' } as const;
    const made: PlainEvent = { type: 'ApplicationRegistered', data: live };
    const none = given(APPLICATION, []);
    for (const before of [[], [allowed, withdrawn]])
      none
        .when(application.register(live, owner(opened, ...before), { access: 'request' }))
        .thenRefused('forbidden', /production applications need approval.*annal production allow proj_1/);
    none.when(application.register(live, owner(opened, allowed), { access: 'request' })).thenEvents(made);
    none
      .when(application.register(live, owner(opened), { access: 'request', newestApplication: BEGINNING }))
      .thenEvents(made);
    none.when(application.register(live, owner(opened), { access: 'open' })).thenEvents(made);
    none.when(application.register(data, owner(opened), { access: 'request' })).thenEvents(registered);
  });

  it('given no project, or one that is deleted, when one is registered, then 404', () => {
    const closed: PlainEvent = { type: 'ProjectDeleted', data: { project_id: 'proj_1' } };
    for (const project of [owner(), owner(opened, closed)])
      given(APPLICATION, []).when(application.register(data, project)).thenRefused('not_found');
  });

  it('given branding or trust, when the same comes again, then nothing happens', () => {
    const branded: PlainEvent = { type: 'ApplicationBranded', data: { color: '#000000' } };
    const state = given(APPLICATION, [registered, branded, trusted]);
    state.when(application.brand('app_1', { color: '#000000' })).thenNothing();
    expect(state.when(application.brand('app_1', {})).drafts).to.have.length(1);
    const logo = { sha256: 'aa', content_type: 'image/png', size: 1 } as const;
    const shown: PlainEvent = { type: 'ApplicationBranded', data: { logo } };
    const other = given(APPLICATION, [registered, shown]);
    other.when(application.brand('app_1', { logo })).thenNothing();
    expect(other.when(application.brand('app_1', { logo: { ...logo, sha256: 'bb' } })).drafts).to.have.length(
      1,
    );
    state.when(application.trust('app_1', true)).thenNothing();
    expect(state.when(application.trust('app_1', false)).drafts).to.have.length(1);
  });

  it('given settings, when some change, then the event has all, and equal ones are no event', () => {
    const changed = (settings: object): PlainEvent => ({
      type: 'ApplicationChanged',
      data: {
        redirect_uris: ['https://a.example/'],
        post_logout_redirect_uris: [],
        scopes: ['patient/*.rs'],
        ...settings,
      },
    });
    const state = given(APPLICATION, [registered]);
    state
      .when(application.change('app_1', { scopes: ['openid'] }))
      .thenEvents(changed({ scopes: ['openid'] }));
    state.when(application.change('app_1', { redirect_uris: ['https://a.example/'] })).thenNothing();
    const policy = changed({ privacy_url: 'https://a.example/privacy' });
    const after = given(APPLICATION, [registered, policy]);
    after.when(application.change('app_1', {})).thenNothing();
    after.when(application.change('app_1', { privacy_url: null })).thenEvents(changed({}));
  });

  it('given a secret, when keys are set, then it ends; other keys replace them, and other settings keep them', () => {
    const change = (asked: application.Change) => application.change('app_1', asked);
    const far = { jwks_uri: 'https://a.example/jwks' };
    const state = given(APPLICATION, [registered]);
    const keyed: PlainEvent = {
      type: 'ApplicationChanged',
      data: {
        redirect_uris: ['https://a.example/'],
        post_logout_redirect_uris: [],
        scopes: ['patient/*.rs'],
        ...far,
      },
    };
    state.when(change(far)).thenEvents(keyed);
    const after = given(APPLICATION, [registered, keyed]);
    expect(after.state.secrets).to.equal(undefined);
    after.when(application.rotateSecret('app_1', 'aa', { overlap: 0, now: 1 })).thenRefused('conflict');
    const jwks = { keys: [{ kty: 'RSA' as const, n: 'AQAB', e: 'AQAB' }] };
    expect(after.when(change({ jwks })).drafts)
      .to.have.nested.property('[0].event.data')
      .that.includes.keys('jwks');
    expect(after.when(change({ jwks })).drafts).to.not.have.nested.property('[0].event.data.jwks_uri');
    expect(after.when(change({ scopes: ['openid'] })).drafts).to.have.nested.property(
      '[0].event.data.jwks_uri',
      far.jwks_uri,
    );
  });

  it('given none, or one that is deleted, then 404 whatever is asked', () => {
    for (const decide of [
      application.change('app_1', { scopes: ['openid'] }),
      application.brand('app_1', {}),
      application.rotateSecret('app_1', 'aa', { overlap: 0, now: 1 }),
      application.trust('app_1', true),
      application.remove('app_1'),
    ]) {
      given(APPLICATION, []).when(decide).thenRefused('not_found');
      given(APPLICATION, [registered, deleted]).when(decide).thenRefused('not_found');
    }
  });
});
