/** Who read a record, as shown to the people it belongs to: `/me/patients/{id}/access-log` and `…/grants/{id}/access-log`. */
import { expect } from 'chai';
import { pino } from 'pino';
import { openAccessLog } from '#src/app/access-log.ts';
import { createMetrics } from '#src/metrics/registry.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, linkOf, me, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';

describe('the access log under /me', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let applications: [Application, Application];
  let record: string;
  let other: string;
  let first: Allowed;
  let second: Allowed;

  const [patient, carer] = ['mira@example.org', 'carer@example.org'];
  const list = async (path: string, email = patient) => {
    const { status, json } = await me(service, email, path);
    expect(status, JSON.stringify(json)).to.equal(200);
    return json;
  };
  const log = (query = '', email = patient) => list(`/patients/${record}/access-log${query}`, email);
  const ofGrant = (allowed: Allowed, query = '') =>
    list(`/patients/${record}/grants/${allowed.data.grant_id}/access-log${query}`);
  const told = ({ data }: Awaited<ReturnType<typeof log>>) =>
    data.map(({ action, resource_type, status }) => `${action} ${resource_type} ${status}`);

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    applications = [await granting.register(owner, id), await granting.register(owner, id)];
    [record, other] = [await newPatient(service), await newPatient(service)];
    await granting.events.append(record, linkOf(service, patient), linkOf(service, carer, 'dependent'));
    await granting.events.append(other, linkOf(service, 'other@example.org'));
    [first, second] = [
      await granting.allow(applications[0], record),
      await granting.allow(applications[1], record, { scopes: ['patient/Condition.rs'] }),
    ];
    for (const path of [`/Patient/${first.patient}`, '/Observation', '/Observation/_history'])
      expect((await service.fhir(path, { key: first.token })).status).to.equal(200);
    expect((await service.fhir('/Condition', { key: second.token })).status).to.equal(200);
    expect((await service.fhir('/Observation', { key: second.token })).status).to.equal(403);
    await eventually(async () => (await log()).total === 5);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  it('has all reads, the newest first, for everyone who has the record', async () => {
    const mine = await log();
    expect(told(mine)).to.have.members([
      'search-type Observation denied',
      'search-type Condition ok',
      'history-type Observation ok',
      'search-type Observation ok',
      'read Patient ok',
    ]);
    expect(told(mine).at(-1)).to.equal('read Patient ok');
    expect(mine.data.at(-1)).to.deep.include({
      actor: 'Hearty',
      actor_ref: `application/${applications[0].applicationId}`,
      resource_id: record,
      count: 1,
      purpose: 'treatment',
    });
    expect(await log('', carer)).to.deep.equal(mine);
    expect(JSON.stringify(mine)).to.not.include(first.patient);
  });

  it('has the reads of one grant', async () => {
    expect(told(await ofGrant(second))).to.have.members([
      'search-type Observation denied',
      'search-type Condition ok',
    ]);
    expect(told(await ofGrant(first, '?action=read'))).to.deep.equal(['read Patient ok']);
  });

  it('is filtered by day, outcome, action, type and application, with the total of what is left', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const counts = async (query: string) => {
      const { total, data } = await log(query);
      return [total, data.length];
    };
    expect(await counts('?status=denied')).to.deep.equal([1, 1]);
    expect(await counts('?resource_type=Observation')).to.deep.equal([3, 3]);
    expect(await counts('?resource_type=Observation&status=ok&action=search-type')).to.deep.equal([1, 1]);
    expect(await counts(`?application_id=${applications[0].applicationId}`)).to.deep.equal([3, 3]);
    expect(await counts('?from=2020-01-01')).to.deep.equal([5, 5]);
    expect(await counts('?to=2020-01-01')).to.deep.equal([0, 0]);
    expect(await counts('?from=2999-01-01')).to.deep.equal([0, 0]);
    const recent = await log(`?from=2020-01-01&to=${today}&limit=2`);
    expect([recent.total, recent.data.length]).to.deep.equal([5, 2]);
    for (const [query, field] of [
      ['from=yesterday', 'query.from'],
      ['from=2026-02-02&to=2026-02-01', 'query.from'],
      ['status=fine', 'query.status'],
      ['grant_id=x', 'query.grant_id'],
    ]) {
      const { status, json } = await me(service, patient, `/patients/${record}/access-log?${query}`);
      expect([status, JSON.stringify(json).includes(`"field":"${field}"`)], query).to.deep.equal([422, true]);
    }
  });

  it('halves its way to a moment among many entries', async () => {
    const many = await newPatient(service);
    await service.pool.query(
      `insert into operations.access_entry (record, seq, id, at, action, actor_kind, actor_id, status, request_id, hash)
       select $1, n, gen_random_uuid(), 1000 * (n / 3), 'read', 'key', 'key_x', 'ok', 'req_x', '' from generate_series(1, 1000) n`,
      [many],
    );
    await service.pool.query('insert into operations.access_head (record, entries) values ($1, 1000)', [
      many,
    ]);
    const { rows } = await service.pool.query<{ differs: number }>(
      `select count(*)::int as differs from generate_series(-2, 400) k
        where operations.access_seq_from($1, k * 1000 - 1)
              <> coalesce((select min(seq) from operations.access_entry where record = $1 and at >= k * 1000 - 1), 1001)
           or operations.access_seq_from($1, k * 1000)
              <> coalesce((select min(seq) from operations.access_entry where record = $1 and at >= k * 1000), 1001)`,
      [many],
    );
    expect(rows[0]?.differs).to.equal(0);
  });

  it('and every other list of /me takes environment and lang', async () => {
    const lists = [
      '/patients',
      '/access-requests',
      '/muted-applications',
      ...['grants', 'access-log', 'shl', 'proposals', `grants/${first.data.grant_id}/access-log`].map(
        (each) => `/patients/${record}/${each}`,
      ),
    ];
    for (const path of lists) {
      const here = await list(`${path}?environment=sandbox&lang=de`);
      expect(here, path).to.include.keys('data', 'total', 'next_cursor');
      const { status } = await me(service, patient, `${path}?environment=production&lang=xx`);
      expect(status, path).to.equal(path.startsWith('/patients/') ? 404 : 200);
      for (const wrong of ['environment=test', `lang=${'x'.repeat(41)}`])
        expect((await me(service, patient, `${path}?${wrong}`)).status, `${path} ${wrong}`).to.equal(422);
    }
    const { data } = await list(`/patients/${record}/grants?environment=sandbox&lang=de&limit=1`);
    expect(JSON.stringify(data)).to.match(/lesen|Lesen|sehen|ansehen/);
  });

  it('is read page by page; a cursor works for its own list and filters only', async () => {
    const ids: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await log(`?limit=2${cursor}`);
      ids.push(...page.data.map(({ id }) => id));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(ids).to.deep.equal((await log()).data.map(({ id }) => id));
    const cursor = (await log('?limit=2')).next_cursor;
    for (const path of [
      `/access-log?status=ok&cursor=${cursor}`,
      `/grants/${first.data.grant_id}/access-log?cursor=${cursor}`,
    ])
      expect((await me(service, patient, `/patients/${record}${path}`)).status).to.equal(422);
  });

  it('counts the reads of each grant that showed something', async () => {
    const { data } = await list(`/patients/${record}/grants`);
    const uses = Object.fromEntries(
      data.map(({ id, access_count, last_access_at }) => [id, [access_count, last_access_at]]),
    );
    const last = (await ofGrant(first)).data[0]?.ts;
    expect(uses[first.data.grant_id]).to.deep.equal([3, last]);
    expect(uses[second.data.grant_id]).to.deep.equal([1, (await ofGrant(second, '?status=ok')).data[0]?.ts]);
    // The response to revoking a grant has these counts, too.
    const ended = await me(
      service,
      patient,
      `/patients/${record}/grants/${first.data.grant_id}/revoke`,
      'POST',
      {},
    );
    expect([ended.status, ended.json.access_count, ended.json.last_access_at]).to.deep.equal([200, 3, last]);
    expect((await ofGrant(first)).total).to.equal(3);
  });

  it('names the people who have the record to each other, and to no project', async () => {
    const { issuer, subject } = identityOf(service, carer);
    await service.pool.query(
      `insert into operations.person (issuer, subject, name, email_verified, signed_in_at, session_ended_at)
       values ($1, $2, 'Kim Carer', true, now(), now())`,
      [issuer, subject],
    );
    const writer = openAccessLog(service.databaseUrl, pino({ level: 'silent' }), createMetrics().registry);
    await writer.written([
      {
        record,
        action: 'read',
        actor: { kind: 'person', issuer, subject, role: 'representative' },
        resourceType: 'Patient',
        resourceId: record,
        purpose: null,
        status: 'ok',
        count: 1,
        requestId: 'req_0123456789012345678901',
      },
    ]);
    await writer.close();
    expect((await log('?limit=1')).data[0]).to.deep.include({
      actor: 'Kim Carer',
      actor_ref: 'person/representative',
    });
    const project = await service.fhir(`${service.url}/v1/patients/${record}/access-log?limit=1`);
    expect(JSON.parse(project.text).data[0]).to.deep.include({
      actor: null,
      actor_ref: 'person/representative',
    });
  });

  it('is unknown to everybody else, and under ids of others', async () => {
    const unknown = 'grant_0123456789012345678901';
    const theirs = (await me(service, patient, `/patients/${record}/grants/${unknown}/access-log`)).json;
    for (const [email, path] of [
      ['stranger@example.org', `/patients/${record}/access-log`],
      ['stranger@example.org', `/patients/${record}/grants/${first.data.grant_id}/access-log`],
      ['other@example.org', `/patients/${record}/access-log`],
      ['other@example.org', `/patients/${other}/grants/${first.data.grant_id}/access-log`],
      [patient, `/patients/${other}/access-log`],
      [patient, '/patients/x/access-log'],
    ] as const) {
      const { status, json } = await me(service, email, path);
      expect(status, `${email} ${path}`).to.equal(404);
      expect(JSON.stringify(json)).to.match(/"type":"not_found"/);
    }
    expect(JSON.stringify(theirs)).to.include(unknown);
  });
});
