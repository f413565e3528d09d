/** `/admin/operations`: what the installation's operators see and do, and that nobody else has access. */
import { expect } from 'chai';
import { openEventStore } from '#src/events/open.ts';
import { projectStream } from '#src/events/streams.ts';
import { findNeeds, type Known } from '#src/http/admin/operations/health.ts';
import { ADMIN_ROUTES } from '#src/http/admin/routes.ts';
import { VERSION } from '#src/http/version.ts';
import { SizeSamples } from '#src/operations/size-samples.ts';
import { type AdminJson, type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { holdRebuild, isHeld } from '#test/support/held-rebuild.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { startSecondInstance } from '#test/support/second-instance.ts';

const PARKED = '01900000-0000-7000-8000-000000000001';

describe('the routes of operators', () => {
  let service: InProcess;
  /** The owner and an admin of the organization that operates the installation. */
  let owner: AdminUser;
  let admin: AdminUser;
  let organization: string;
  let customer: AdminUser;
  let project: string;

  before(async () => {
    service = await startInProcess({}, { PRODUCTION_ACCESS: 'request' });
    owner = await signIn(service, 'developer@example.org');
    admin = await signIn(service, 'admin@example.org');
    organization = (await owner.done('GET', '/organizations')).data[0]?.id ?? '';
    await add(admin, 'admin');
    customer = await signIn(service, 'owner@clinic.example');
    const clinic = (await customer.done('POST', '/organizations', { name: 'Clinic' })).id;
    project = (await customer.done('POST', `/organizations/${clinic}/projects`, { name: 'Pilot' })).id;
  });
  after(() => service?.stop());

  const add = ({ issuer, subject, email }: AdminUser, role: string) =>
    owner.done('POST', `/organizations/${organization}/members`, { issuer, subject, email, role });
  const list = async (name: string): Promise<readonly AdminJson[]> =>
    (await admin.done('GET', `/operations/${name}`)).data;
  const find = async (name: string, which: string) => (await list(name)).find((one) => one.name === which);
  const rebuild = (by: AdminUser, ...read_models: string[]) =>
    by.ask('POST', '/operations/rebuilds', { read_models, confirm: read_models, load: 'full' });
  const application = async (): Promise<string> =>
    (
      await customer.done('POST', `/projects/${project}/applications`, {
        name: 'Diary',
        environment: 'sandbox',
        kind: 'public',
        redirect_uris: ['https://diary.example/back'],
        scopes: ['openid'],
      })
    ).id;

  it('refuse everyone but owners and admins of the organization that operates the installation', async () => {
    const developer = await signIn(service, 'dev@example.org');
    const auditor = await signIn(service, 'auditor@example.org');
    await add(developer, 'developer');
    await add(auditor, 'auditor');
    const routes = ADMIN_ROUTES.filter(({ tag }) => tag === 'Operations');
    expect(routes).to.have.length.above(14);
    for (const { method, path } of routes)
      for (const person of [developer, auditor, customer]) {
        const body = method === 'POST' ? bodyFor(path) : undefined;
        const { status, text } = await person.ask(
          method,
          path.slice('/admin'.length).replace(/\{\w+\}/, 'x'),
          body,
        );
        expect(status, `${person.email} ${method} ${path}: ${text}`).to.equal(403);
        expect(text).to.contain('only operators of the installation');
      }
    const refused = await customer.ask('POST', `/applications/${await application()}/trust`, {});
    expect(refused.status).to.equal(403);
    expect((await fetch(`${service.url}/admin/operations/health`)).status).to.equal(401);
  });

  function bodyFor(path: string): object | undefined {
    if (path.endsWith('/rebuilds')) return { read_models: ['search'], confirm: ['search'] };
    if (path.endsWith('/production-withdrawals')) return { project_id: 'proj_x' };
    return path.includes('production-requests') ? { answer: 'allow' } : undefined;
  }

  it('show read models, and rebuild them once for two people who start it', async () => {
    await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] });
    expect(await find('read-models', 'search')).to.include({ state: 'serving', stale: false, failure: null });
    // The response to a write doesn't wait for the timeline.
    await eventually(async () => {
      const found = await find('read-models', 'timeline');
      return (found?.lag as { readonly events: number } | undefined)?.events === 0;
    });
    const before = await find('read-models', 'timeline');
    expect(before).to.deep.include({ lag: { events: 0, seconds: 0 }, version: before?.table_version });
    expect(before?.bytes).to.be.above(10_000);
    const release = await holdRebuild(service.databaseUrl, 'search');
    const [one, two] = await Promise.all([rebuild(owner, 'search'), rebuild(admin, 'search')]);
    expect([one.status, two.status].sort()).to.deep.equal([200, 201]);
    const job = JSON.parse(one.text);
    expect(JSON.parse(two.text).id).to.equal(job.id);
    await eventually(() => isHeld(service.pool, 'search'));
    expect((await find('read-models', 'search'))?.state).to.equal('rebuilding');
    const watch = () => admin.done('GET', `/operations/rebuilds/${job.id}`);
    expect(await watch()).to.include({ status: 'running', result: null, cancelling: false });
    expect((await service.fhir('/Patient?family=Sand')).status).to.equal(200);
    await release();
    await eventually(async () => (await watch()).status === 'done');
    const done = await watch();
    expect(done).to.deep.include({ read_models: ['search'], load: 'full', force: false, error: null });
    expect(done.started_by).to.have.property('email').that.is.oneOf([owner.email, admin.email]);
    expect((done.result as AdminJson[])[0]).to.include({ name: 'search', outcome: 'swapped' });
    expect((await list('rebuilds'))[0]).to.deep.equal(done);
    // The rebuild has finished, so cancelling it changes nothing.
    expect(await admin.done('POST', `/operations/rebuilds/${job.id}/cancel`)).to.deep.equal(done);
  });

  it('cancel a rebuild, and take none that isn’t confirmed or has unknown names', async () => {
    const release = await holdRebuild(service.databaseUrl, 'history');
    const { id } = JSON.parse((await rebuild(owner, 'history')).text);
    await eventually(() => isHeld(service.pool, 'history'));
    expect((await admin.done('POST', `/operations/rebuilds/${id}/cancel`)).cancelling).to.equal(true);
    await eventually(
      async () => (await admin.done('GET', `/operations/rebuilds/${id}`)).status === 'cancelled',
    );
    await release();
    await eventually(async () => (await find('read-models', 'history'))?.state === 'serving');
    for (const [body, field] of [
      [{ read_models: ['search', 'history'], confirm: ['search'] }, 'confirm'],
      [{ read_models: ['serach'], confirm: ['serach'] }, 'read_models.0'],
    ] as const) {
      const refused = await admin.ask('POST', '/operations/rebuilds', body);
      expect([refused.status, JSON.parse(refused.text).error.field]).to.deep.equal([422, field]);
    }
    expect((await admin.ask('GET', '/operations/rebuilds/job_1')).status).to.equal(404);
  });

  itAtFullSize('show processes and parked events, and retry one', async () => {
    await service.pool.query(
      `insert into operations.parked (process, stream, revision, position, event_id, error, attempts, retry_at)
       values ('webhooks', 'record-x', 3, '1', $1, 'the receiver is missing', 6, now() + interval '1 hour')`,
      [PARKED],
    );
    await eventually(async () => (await find('processes', 'webhooks'))?.instance != null, 30_000, 500);
    expect(await find('processes', 'webhooks')).to.include({ parked: 1 });
    const [parked] = await list('parked');
    expect(parked).to.deep.include({
      id: `webhooks:${PARKED}`,
      process: 'webhooks',
      revision: 3,
      attempts: 6,
    });
    // The event is gone, like the events of a purged record, so it belongs to nobody.
    expect(parked).to.include({ type: null, project: null, environment: null });
    const { data } = await admin.done('GET', '/operations/health');
    expect(data.find(({ code }) => code === 'parked_events')).to.include({
      subject: 'webhooks',
      urgent: true,
      count: 1,
    });
    const retry = (id: string) => admin.ask('POST', `/operations/parked/${id}/retry`);
    expect((await retry(parked?.id ?? '')).status).to.equal(202);
    // The process finds no such event, and parks it again with that as the reason.
    await eventually(async () => (await list('parked'))[0]?.attempts === 7);
    expect((await retry(`webhooks:${PARKED.replace(/1$/, '2')}`)).status).to.equal(404);
    expect((await retry('webhooks')).status).to.equal(404);
    await service.pool.query('delete from operations.parked');
  });

  it('show sizes with their growth, slow routes without ids, instances and issuers', async () => {
    const samples = new SizeSamples(service.pool, async function* () {
      yield { bytes: 7 };
      yield { bytes: 5 };
    });
    await samples.take();
    await samples.take();
    const sizes = await admin.done('GET', '/operations/sizes');
    expect(sizes.documents).to.deep.equal({ count: 2, bytes: 12 });
    expect(sizes.samples).to.have.length(1);
    expect(sizes.database_bytes).to.be.above(Number(sizes.log_bytes));
    const schemas = sizes.schemas as AdminJson[];
    expect(schemas.map(({ name }) => name)).to.include.members(['log', 'operations', 'resources', 'search']);

    const { json } = await service.post('/Patient', { resourceType: 'Patient' });
    await service.fhir(`/Patient/${json.id}`);
    await service.fhir(`/Patient/${json.id}/_history/1`);
    const slow = async () => await admin.done('GET', '/operations/slow-requests');
    const route = '/fhir/R4/Patient/{id}';
    await customer.done('GET', `/projects/${project}`);
    const isThere = async (of: string) => (await slow()).data.some((one) => one.route === of);
    const asked = [route, '/fhir/R4/Patient/{id}/_history/{version}', '/admin/projects/{id}'];
    await eventually(async () => (await Promise.all(asked.map(isThere))).every(Boolean), 30_000, 200);
    const entry = (await slow()).data.find((one) => one.route === route);
    expect(entry).to.include({ method: 'GET', requests: 1 });
    expect(entry?.p95_ms).to.be.above(0).and.equal(entry?.max_ms).and.equal(entry?.p50_ms);
    expect(JSON.stringify(await slow())).not.to.contain(json.id);

    // Three requests that failed, and one that failed an hour earlier.
    await service.pool.query(
      `insert into operations.request_log (request_id, at, project, environment, key_id, method, path, status, ms, error)
       select 'req_failed' || n, (extract(epoch from clock_timestamp()) * 1000000)::int8 - n * 1800000000::int8, $1, 'sandbox', 'key_1', 'GET',
              '/fhir/R4/Patient/' || $2, case when n = 2 then 429 else 503 end, 7, '{"type":"unavailable","fields":[]}'
         from generate_series(0, 3) n`,
      [project, json.id],
    );
    const failing = await admin.done('GET', '/operations/failed-requests');
    expect(JSON.stringify(failing)).not.to.contain(json.id);
    const group = { project: { id: project, name: 'Pilot', organization: 'Clinic' }, environment: 'sandbox' };
    expect(failing.data).to.have.length(2);
    expect(failing.data[0]).to.deep.include({
      ...{ ...group, method: 'GET', route, status: 503, error: 'unavailable' },
      ...{ requests: 3, request_id: 'req_failed0' },
    });
    const hours = failing.hours as AdminJson[];
    expect(hours.reduce((sum, hour) => sum + Number(hour.failed), 0)).to.equal(3);
    expect(hours.reduce((sum, hour) => sum + Number(hour.throttled), 0)).to.equal(1);
    const others = await admin.done('GET', '/operations/failed-requests?project=proj_1');
    expect(others.data).to.deep.equal([]);
    const backwards = '/operations/failed-requests?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z';
    expect((await admin.ask('GET', backwards)).status).to.equal(422);
    expect(await admin.done('GET', '/operations/requests/req_failed2')).to.deep.include({
      ...{ ...group, route, status: 429, ms: 7, request_id: 'req_failed2' },
    });
    expect((await admin.ask('GET', '/operations/requests/req_none')).status).to.equal(404);
    const { data: needs } = await admin.done('GET', '/operations/health');
    expect(needs.find(({ code }) => code === 'requests_failing')).to.include({ count: 1, urgent: false });

    // If there are more requests than are looked at, the newest are.
    await service.pool.query(
      `insert into operations.request_log (request_id, at, project, environment, method, path, status, ms)
       select 'req_busy' || n, (extract(epoch from clock_timestamp()) * 1000000)::int8 - (51000 - n) * 1000000::int8, $1, 'sandbox', 'GET',
              case when n > 50990 then '/late' else '/early' end, 200, 1
         from generate_series(1, 51000) n`,
      [project],
    );
    const busy = await admin.done('GET', '/operations/slow-requests');
    expect(busy.requests).to.equal(50_000);
    expect((busy.data as AdminJson[]).find((each) => each.route === '/late')?.requests).to.equal(10);
    expect(Date.parse(String(busy.from))).to.be.greaterThan(Date.now() - 51_000_000);
    await service.pool.query("delete from operations.request_log where request_id like 'req\\_busy%'");

    // A rebuild that failed needs nobody once a later one includes its read models.
    const started = (await service.pool.query('select max(created_at)::float8 as at from operations.job'))
      .rows[0].at;
    await service.pool.query(
      `insert into operations.job (id, kind, subject, options, status, started_by, created_at, finished_at)
       values ('job_early', 'rebuild', 'history search', '{}', 'failed', '{}', $1, $1),
              ('job_part', 'rebuild', 'search', '{}', 'failed', '{}', $1, $1),
              ('job_later', 'rebuild', 'consents search', '{}', 'done', '{}', $1 + 1, $1 + 1)`,
      [started],
    );
    const failed = (await admin.done('GET', '/operations/health')).data as AdminJson[];
    expect(
      failed.filter(({ code }) => code === 'rebuild_failed').map(({ subject }) => subject),
    ).to.deep.equal(['history search']);
    await service.pool.query("delete from operations.job where id in ('job_early', 'job_part', 'job_later')");

    const [instance] = await list('instances');
    expect(instance).to.include({ version: VERSION, pid: service.pid, alive: true, answers: true });
    const second = await startSecondInstance(service);
    try {
      await eventually(async () => (await list('instances')).length === 2);
      // Both instances look for jobs, and each runs one of them.
      const release = await holdRebuild(service.databaseUrl, 'webhooks');
      expect((await rebuild(owner, 'webhooks')).status).to.equal(201);
      await eventually(() => isHeld(service.pool, 'webhooks'));
      const [job] = await list('rebuilds');
      const ids = (await list('instances')).map(({ id }) => id);
      expect(ids).to.include(job?.instance);
      await release();
      await eventually(async () => (await list('rebuilds'))[0]?.status === 'done');
    } finally {
      await second.close();
    }
    expect(await list('instances')).to.have.length(1);
    const [issuer] = await list('issuers');
    expect(issuer).to.include({ issuer: `${service.url}/dev`, failure: null });
    expect(issuer?.keys).to.have.nested.property('[0].kid');
  });

  it('answer requests for production in the name of the person, once', async () => {
    const ask = async () =>
      (await customer.done('POST', `/projects/${project}/production-requests`, { use: 'A diary' })).id;
    const answer = (id: string, body: object) =>
      admin.ask('POST', `/operations/production-requests/${id}`, body);
    const first = await ask();
    const { data } = await admin.done('GET', '/operations/health');
    expect(data.find(({ code }) => code === 'production_requests')).to.include({ count: 1, urgent: false });
    expect((await list('production-requests'))[0]).to.deep.include({
      id: first,
      status: 'pending',
      production: false,
      person: customer.email,
      project: { id: project, name: 'Pilot' },
    });
    expect((await answer(first, { answer: 'allow', reason: 'x' })).status).to.equal(422);
    const refused = JSON.parse(
      (await answer(first, { answer: 'refuse', reason: 'Confirm your domain' })).text,
    );
    expect(refused).to.include({ status: 'refused', reason: 'Confirm your domain', production: false });
    expect((await list('production-requests'))[0]).to.deep.equal(refused);
    expect((await answer(first, { answer: 'allow' })).status).to.equal(409);

    const second = await ask();
    expect(JSON.parse((await answer(second, { answer: 'allow' })).text)).to.include({
      id: second,
      status: 'allowed',
      production: true,
    });
    expect((await customer.done('GET', `/projects/${project}`)).production).to.equal(true);
    const { stdout } = await runCommand(['production', 'list', '--json'], {
      DATABASE_URL: service.databaseUrl,
    });
    const requests = JSON.parse(stdout).data as readonly AdminJson[];
    const own = requests.filter((one) => one.project.id === project);
    expect(own.map(({ status }) => status)).to.deep.equal(['allowed', 'refused']);
    expect((await answer('preq_1', { answer: 'allow' })).status).to.equal(404);
    const key = { name: 'live', environment: 'production' };
    await customer.done('POST', `/projects/${project}/keys`, key);
    const withdraw = (body: object) => admin.ask('POST', '/operations/production-withdrawals', body);
    const withdrawn = await withdraw({ project_id: project });
    expect(JSON.parse(withdrawn.text)).to.deep.equal({ project_id: project, production: false });
    expect((await customer.done('GET', `/projects/${project}`)).production).to.equal(false);
    expect((await customer.ask('POST', `/projects/${project}/keys`, key)).status).to.equal(403);
    expect((await withdraw({ project_id: 'proj_1' })).status).to.equal(404);
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    const people: string[] = [];
    for await (const { type, metadata } of store.read(projectStream(project)))
      if (/^ProductionAccess(?:Allowed|Refused|Withdrawn)$/.test(type))
        people.push(JSON.parse(metadata).credential.subject);
    await store.close();
    expect(people).to.deep.equal([admin.subject, admin.subject, admin.subject]);
  });

  it('give applications trust that lasts, and end it', async () => {
    const id = await application();
    const trust = (trusted: boolean) => admin.done('POST', `/applications/${id}/trust`, { trusted });
    expect(await trust(true)).to.include({ id, trusted: true });
    const trusted = (await list('trusted-applications')).find((each) => each.id === id);
    expect(trusted).to.deep.include({
      id,
      name: 'Diary',
      organization: { ...(trusted?.organization ?? {}), name: 'Clinic' },
    });
    expect(trusted?.trusted_at).to.be.a('string');
    // Trust given by anyone else would be revoked.
    const { rows } = await service.pool.query(
      'select trusted, trusted_by_others from projects.application where id = $1',
      [id],
    );
    expect(rows).to.deep.equal([{ trusted: true, trusted_by_others: false }]);
    expect(await trust(false)).to.include({ trusted: false });
    // A shared log also contains applications that other tests trust.
    expect((await list('trusted-applications')).map((each) => each.id)).not.to.include(id);
    expect((await admin.ask('POST', '/applications/app_1/trust', {})).status).to.equal(404);
  });
});

describe('the health of an installation', () => {
  const well: Known = {
    followers: { head: '1' as never, readModels: [], processes: [] },
    failed: [],
    verified: undefined,
    requests: [],
    instances: [],
    issuers: [],
    notices: [],
    failing: 0,
    now: 10_000_000_000,
  };
  const instance = { id: 'i', host: 'a', pid: 1, runs: [], started_at: 0, seen_at: 9_990_000_000 };
  const model = {
    name: 'search',
    state: 'serving' as const,
    version: 2,
    tableVersion: 2,
    position: undefined,
    lag: { events: 0, seconds: 0 },
    stale: false,
    failure: undefined,
    bytes: 1,
  };
  const codes = (changed: Partial<Known>) =>
    findNeeds({ ...well, ...changed }).map(({ code, urgent }) => `${code}${urgent ? '!' : ''}`);
  const models = (...readModels: object[]) => ({
    followers: { ...well.followers, readModels: readModels.map((one) => ({ ...model, ...one })) },
  });

  it('names what needs a person, the urgent things first', () => {
    expect(codes({})).to.deep.equal([]);
    const verified = (faults: number) => ({ verified: { finished_at: 1, result: { faults } } as never });
    expect(codes({ failing: 1 })).to.deep.equal(['requests_failing']);
    expect(codes({ failing: 10 })).to.deep.equal(['requests_failing!']);
    expect(codes(verified(0))).to.deep.equal([]);
    expect(codes(verified(2))).to.deep.equal(['verification_faults!']);
    expect(codes(models({}, { state: 'rebuilding' }))).to.deep.equal([]);
    // Reads fail, although somebody has acted.
    const rebuilding = models({ state: 'rebuilding', stale: true, tableVersion: undefined, lag: undefined });
    expect(codes(rebuilding)).to.deep.equal(['read_model_behind']);
    expect(
      codes(models({ lag: { events: 5000, seconds: 90 } }, { state: 'missing' }, { state: 'outdated' })),
    ).to.deep.equal(['read_model_missing!', 'read_model_outdated!', 'read_model_behind']);
    expect(codes(models({ state: 'failed' }, { stale: true }))).to.deep.equal([
      'read_model_failed!',
      'read_model_behind!',
    ]);
    expect(codes({ followers: { ...well.followers, head: undefined } })).to.deep.equal(['log_away!']);
    expect(
      codes({
        instances: [
          { ...instance, version: '1', alive: true },
          { ...instance, version: '2', alive: true },
          { ...instance, version: '2', alive: false },
          { ...instance, version: '2', alive: false, seen_at: 1 },
        ],
      }),
    ).to.deep.equal(['instance_lost', 'versions_differ']);
    const failure = { at: 1, message: 'away' };
    const issuer = { issuer: 'https://i.example', audiences: ['a'], fetchedAt: 1, failure };
    expect(
      codes({
        notices: ['the disk is full'],
        issuers: [
          { ...issuer, keys: [{}] },
          { ...issuer, keys: [] },
        ],
      }),
    ).to.deep.equal(['notice!', 'issuer_away!', 'issuer_away']);
  });
});
