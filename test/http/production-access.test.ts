/**
 * Production keys and applications when production requires approval: members request it, and an operator answers with `annal
 * production`.
 */
import { expect } from 'chai';
import { registration } from '#commands/application/registration.ts';
import { APPLICATION } from '#commands/application/state.ts';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { openEventStore } from '#src/events/open.ts';
import { applicationStream } from '#src/events/streams.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL, productionKey } from '#test/support/project.ts';

describe('production by request', () => {
  let service: InProcess;
  let owner: AdminUser;
  let organization: string;
  let project: string;

  before(async () => {
    service = await startInProcess({}, { PRODUCTION_ACCESS: 'request' });
    owner = await signIn(service, 'owner@clinic.example');
    organization = (await owner.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = await newProject();
  });
  after(() => service.stop());

  const newProject = async () =>
    (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
  const ask = (environment: string, of = project) =>
    owner.ask('POST', `/projects/${of}/keys`, { name: 'k', environment });
  const register = (environment: string, of = project) =>
    owner.ask('POST', `/projects/${of}/applications`, {
      name: 'Diary',
      environment,
      kind: 'public',
      redirect_uris: ['https://diary.example/back'],
      scopes: ['openid'],
    });
  const annal = (...args: string[]) =>
    runCommand(['production', ...args], { DATABASE_URL: service.databaseUrl, EVENTSTORE_URL });
  const requestsOf = async (of: string) =>
    (await owner.done('GET', `/projects/${of}/production-requests`)).data;
  const request = (of: string, use = 'A diary for our patients') =>
    owner.ask('POST', `/projects/${of}/production-requests`, { use });
  const mayCreate = (of: string, may: boolean) =>
    eventually(async () => (await owner.done('GET', `/projects/${of}`)).production === may);
  /** Waits for the read model, because the command doesn't. */
  const shows = (of: string, status: string) =>
    eventually(async () => (await requestsOf(of))[0]?.status === status);

  it('refuses its keys until the project is allowed, and again once that is withdrawn', async () => {
    const refused = await ask('production');
    expect(refused.status).to.equal(403);
    const { error } = JSON.parse(refused.text);
    expect(error.type).to.equal('forbidden');
    expect(error.message)
      .to.contain('production keys need approval here')
      .and.contain(`POST /admin/projects/${project}/production-requests`);
    expect((await ask('sandbox')).status).to.equal(201);
    const token = (environment: string) => owner.ask('POST', `/projects/${project}/tokens`, { environment });
    expect([(await token('production')).status, (await token('sandbox')).status]).to.deep.equal([403, 201]);

    expect(await annal('allow', project)).to.include({
      code: 0,
      stdout: `${project} may create production keys and applications.\n`,
    });
    const made = await ask('production');
    expect(made.status).to.equal(201);
    expect((await token('production')).status).to.equal(201);
    expect((await annal('withdraw', project)).code).to.equal(0);
    expect((await ask('production')).status).to.equal(403);
    // Existing keys keep working.
    const { key } = JSON.parse(made.text);
    expect((await service.fhir('/Patient', { key })).status).to.equal(200);
  });

  it('refuses its applications just so', async () => {
    const refused = await register('production');
    expect(refused.status).to.equal(403);
    const { error } = JSON.parse(refused.text);
    expect(error.type).to.equal('forbidden');
    expect(error.message).to.contain('production applications need approval here').and.contain(project);
    expect((await owner.done('GET', `/projects/${project}/applications`)).data).to.deep.equal([]);
    expect((await register('sandbox')).status).to.equal(201);

    expect((await annal('allow', project)).code).to.equal(0);
    const made = await register('production');
    expect(made.status, made.text).to.equal(201);
    expect(JSON.parse(made.text).environment).to.equal('production');
    expect((await annal('withdraw', project)).code).to.equal(0);
    expect((await register('production')).status).to.equal(403);
  });

  it('takes a request, which the operator lists, refuses with a reason, and allows when it comes again', async () => {
    const own = await newProject();
    const answer = await request(own);
    expect(answer.status, answer.text).to.equal(201);
    const asked = JSON.parse(answer.text);
    expect(asked).to.deep.include({
      project_id: own,
      use: 'A diary for our patients',
      status: 'pending',
      reason: null,
      answered_at: null,
    });
    expect(asked.id).to.match(/^preq_[\w-]{22}$/);
    expect(await requestsOf(own)).to.deep.equal([asked]);

    const second = await request(own, 'Something else');
    expect(second.status).to.equal(409);
    expect(JSON.parse(second.text).error.message).to.contain(asked.id);
    const { error } = JSON.parse((await ask('production', own)).text);
    expect(error.message).to.contain(`the request ${asked.id} is pending: an operator`);

    const { data } = JSON.parse((await annal('list', '--json')).stdout);
    expect(data.find(({ id }: { id: string }) => id === asked.id)).to.deep.equal({
      id: asked.id,
      project: { id: own, name: 'Pilot' },
      organization: { id: organization, name: 'Clinic' },
      person: 'owner@clinic.example',
      use: asked.use,
      status: 'pending',
      production_access: false,
      reason: null,
      created_at: asked.created_at,
      answered_at: null,
    });

    const refusal = await annal('refuse', own, '--reason', 'Confirm a domain first');
    expect(refusal).to.include({ code: 0, stdout: `The production request of ${own} was refused.\n` });
    await shows(own, 'refused');
    const [refused] = await requestsOf(own);
    expect(refused).to.deep.include({ id: asked.id, reason: 'Confirm a domain first' });
    expect(refused?.answered_at).to.be.a('string');
    expect((await ask('production', own)).status).to.equal(403);

    const again = JSON.parse((await request(own)).text);
    expect((await annal('allow', own)).code).to.equal(0);
    expect((await ask('production', own)).status).to.equal(201);
    await shows(own, 'allowed');
    const all = await requestsOf(own);
    expect(all.map(({ id, status }) => [id, status])).to.deep.equal([
      [again.id, 'allowed'],
      [asked.id, 'refused'],
    ]);
    const table = (await annal('list', own)).stdout;
    expect(table)
      .to.match(/^Status +Access +Project +Name +Organization +Asked by +Asked +Use +Reason$/m)
      .and.match(/^refused +allowed .*Confirm a domain first$/m)
      .and.contain('2 requests, 0 pending.');
    const needless = await request(own);
    expect(needless.status).to.equal(409);
    expect(JSON.parse(needless.text).error.message).to.contain('already');
    expect((await annal('withdraw', own)).code).to.equal(0);
    await mayCreate(own, false);
    expect((await annal('list', own)).stdout).to.match(/^allowed +not allowed /m);
  });

  it('takes requests of owners and admins; developers read them, and others know of none', async () => {
    const own = await newProject();
    const developer = await signIn(service, 'developer@lab.example');
    const { issuer, subject } = developer;
    const list = `/projects/${own}/production-requests`;
    expect((await developer.ask('GET', list)).status).to.equal(404);
    await owner.done('POST', `/organizations/${organization}/members`, {
      issuer,
      subject,
      role: 'developer',
    });
    expect((await developer.ask('POST', list, { use: 'x' })).status).to.equal(403);
    expect((await developer.done('GET', list)).data).to.deep.equal([]);
    for (const body of [{}, { use: ' ' }, { use: 'x'.repeat(2_001) }]) {
      const answer = await owner.ask('POST', list, body);
      expect([answer.status, JSON.parse(answer.text).error.field]).to.deep.equal([422, 'use']);
    }
  });

  it('counts what a project had of production before, until that is withdrawn', async () => {
    const withKey = await newProject();
    const { key } = JSON.parse((await ask('sandbox', withKey)).text);
    await productionKey(service.databaseUrl, service.pool, key);
    const withApplication = await newProject();
    await registerOpenly(withApplication);
    for (const own of [withKey, withApplication]) {
      await mayCreate(own, true);
      const made = [await ask('production', own), await register('production', own)];
      expect(made.map(({ status }) => status)).to.deep.equal([201, 201]);
      expect((await request(own)).status).to.equal(409);
      expect((await annal('withdraw', own)).stdout).to.equal(
        `${own} may no longer create production keys or applications.\n`,
      );
      expect((await annal('withdraw', own)).stdout).to.contain('(unchanged)');
      await mayCreate(own, false);
      const refused = [await ask('production', own), await register('production', own)];
      expect(refused.map(({ status }) => status)).to.deep.equal([403, 403]);
      expect((await request(own)).status).to.equal(201);
    }
  });

  /** Registers a production application as a service with PRODUCTION_ACCESS=open does. */
  async function registerOpenly(of: string): Promise<void> {
    const ids = { application: newId('app_'), project: of, client: newId('client_live_') };
    const { data } = registration(
      ids,
      {
        name: 'Earlier',
        environment: 'production',
        kind: 'public',
        redirect_uris: [],
        post_logout_redirect_uris: [],
        scopes: ['openid'],
        grant_types: ['authorization_code'],
      },
      undefined,
    );
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    const by = {
      credential: { kind: 'system' },
      requestId: newId('req_'),
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    } as const;
    await new Streams(new Kernel(store), APPLICATION).transact(applicationStream(ids.application), by, () => [
      { type: 'ApplicationRegistered', data },
    ]);
    await store.close();
  }

  it('names what is wrong with the command', async () => {
    const unknown = await annal('allow', 'proj_unknown');
    const misunderstood = await annal('grant', project);
    const unasked = await annal('refuse', project);
    const unlisted = await annal('list', 'proj_unknown');
    expect([unknown.code, unknown.stderr]).to.deep.equal([1, "annal: project/proj_unknown doesn't exist\n"]);
    expect([misunderstood.code, misunderstood.stderr]).to.deep.equal([
      2,
      'annal: unknown action grant of annal production; its actions are allow, withdraw, list and refuse\n',
    ]);
    expect([unasked.code, unasked.stderr]).to.deep.equal([
      1,
      `annal: ${project} has no production request that is waiting for an answer\n`,
    ]);
    expect([unlisted.code, unlisted.stderr]).to.deep.equal([
      1,
      "annal: project/proj_unknown doesn't exist\n",
    ]);
  });
});
