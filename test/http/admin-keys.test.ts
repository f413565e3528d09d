/** API keys and the deletion of projects, in the admin interface and in requests with the keys. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { type Service, startService } from '#test/support/service.ts';

describe('admin: keys', () => {
  let service: InProcess;
  let other: Service;
  let owner: AdminUser;
  let project: string;

  before(async () => {
    service = await startInProcess();
    other = await startService({ databaseUrl: service.databaseUrl });
    owner = await signIn(service, 'owner@clinic.example');
    const { id } = await owner.done('POST', '/organizations', { name: 'Clinic' });
    project = (await owner.done('POST', `/organizations/${id}/projects`, { name: 'Pilot' })).id;
  });
  after(async () => {
    await other?.stop();
    await service.stop();
  });

  const newKey = (environment: 'sandbox' | 'production', scopes = ['read', 'write'], of = project) =>
    owner.done('POST', `/projects/${of}/keys`, { name: `${environment} key`, environment, scopes });
  const search = (key: string) => service.fhir('/Patient', { key });
  const onOther = (key: string) => other.fhir('/Patient', { headers: { Authorization: `Bearer ${key}` } });

  it('are shown once, work, and are known by their last four characters then', async () => {
    const answer = await owner.ask('POST', `/projects/${project}/keys`, {
      name: 'Server',
      environment: 'sandbox',
    });
    expect(answer.status).to.equal(201);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { key, ...made } = JSON.parse(answer.text);
    expect(key).to.match(/^sk_test_[\w-]{43}$/);
    expect(made).to.deep.include({
      project_id: project,
      name: 'Server',
      environment: 'sandbox',
      scopes: ['read', 'write'],
      last4: key.slice(-4),
      last_used_at: null,
      expires_at: null,
      revoked_at: null,
    });
    const listed = await owner.done('GET', `/projects/${project}/keys`);
    expect(listed.data[0]).to.deep.equal(made);
    expect(JSON.stringify(listed)).to.not.contain(key);
    expect([(await search(key)).status, (await onOther(key)).status]).to.deep.equal([200, 200]);
    await eventually(async () => {
      const [first] = (await owner.done('GET', `/projects/${project}/keys`)).data;
      return typeof first?.last_used_at === 'string';
    });
  });

  it('keep to their scopes and their environment', async () => {
    const [reader, writer] = [await newKey('sandbox', ['read']), await newKey('sandbox', ['write'])];
    const live = await newKey('production');
    expect(live.key).to.match(/^sk_live_[\w-]{43}$/);
    const create = (key: string) =>
      service.fhir('/Patient', { key, method: 'POST', body: '{"resourceType":"Patient"}' });
    expect((await create(reader.key)).status).to.equal(403);
    expect((await search(writer.key)).status).to.equal(403);
    const { id } = (await create(writer.key)).json;
    expect((await service.fhir(`/Patient/${id}`, { key: reader.key })).status).to.equal(200);
    expect((await service.fhir(`/Patient/${id}`, { key: live.key })).status).to.equal(404);
  });

  it('stop at once on every instance when they are revoked, and for good', async () => {
    const { id, key } = await newKey('sandbox');
    const list = () => service.fhir(`${service.url}/v1/patients`, { key });
    const statuses = async () =>
      (await Promise.all([search(key), list(), onOther(key)])).map((a) => a.status);
    expect(await statuses()).to.deep.equal([200, 200, 200]);
    // These answers may be cached for the key's holder. Once the key is revoked, nobody receives them.
    expect(await statuses()).to.deep.equal([200, 200, 200]);
    await owner.done('DELETE', `/keys/${id}`);
    expect(await statuses()).to.deep.equal([401, 401, 401]);
    const revokedAt = async () =>
      (await owner.done('GET', `/projects/${project}/keys`)).data.find((each) => each.id === id)?.revoked_at;
    const first = await revokedAt();
    expect(first).to.be.a('string');
    expect((await owner.ask('DELETE', `/keys/${id}`)).status).to.equal(204);
    expect(await revokedAt()).to.equal(first);
  });

  const wrong: [string, object, string][] = [
    ['no name', { name: undefined }, 'name'],
    ['no environment', { environment: undefined }, 'environment'],
    ['an unknown environment', { environment: 'staging' }, 'environment'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['read', 'admin'] }, 'scopes.1'],
    ['a scope twice', { scopes: ['read', 'read'] }, 'scopes'],
  ];
  for (const [what, more, field] of wrong) {
    it(`are refused with ${what}`, async () => {
      const body = { name: 'k', environment: 'sandbox', scopes: ['read'], ...more };
      const answer = await owner.ask('POST', `/projects/${project}/keys`, body);
      expect([answer.status, JSON.parse(answer.text).error.field]).to.deep.equal([422, field]);
    });
  }

  it('stop by themselves on every instance when their time is over, by the clock of the database', async () => {
    const asked = { name: 'k', environment: 'sandbox', expires_at: '2099-01-01T01:00:00+01:00' };
    const { id, key } = await owner.done('POST', `/projects/${project}/keys`, asked);
    const statuses = async () => [(await search(key)).status, (await onOther(key)).status];
    expect(await statuses()).to.deep.equal([200, 200]);
    const listed = async () => (await owner.done('GET', `/projects/${project}/keys`)).data[0];
    expect(await listed()).to.include({ id, expires_at: '2099-01-01T00:00:00.000000Z' });
    const end = (at: string) =>
      service.pool.query(
        `update projects.api_key set expires_at = (extract(epoch from ${at}) * 1000000)::int8 where key_id = $1`,
        [id],
      );
    await end("now() + interval '1 hour'");
    expect(await statuses()).to.deep.equal([200, 200]);
    await end("now() - interval '1 millisecond'");
    expect(await statuses()).to.deep.equal([401, 401]);
    expect((await search(key)).text).to.contain('expired');
    expect(await listed()).to.include({ id, revoked_at: null });
  });

  it('end in the future, at an instant', async () => {
    for (const expires_at of ['2020-01-01T00:00:00Z', '2099-01-01', 'tomorrow', 30]) {
      const asked = { name: 'k', environment: 'sandbox', expires_at };
      const answer = await owner.ask('POST', `/projects/${project}/keys`, asked);
      expect(answer.status, String(expires_at)).to.equal(422);
      expect(answer.json.error).to.include({ field: 'expires_at' });
    }
  });

  it('answer a repeated request with the same key, and make one', async () => {
    const body = { name: 'once', environment: 'sandbox', scopes: ['read'] };
    const ask = () => owner.ask('POST', `/projects/${project}/keys`, body, { 'Idempotency-Key': 'one-key' });
    const [first, again] = [await ask(), await ask()];
    expect(again.text).to.equal(first.text);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.headers.get('cache-control')).to.equal('no-store');
    const { data } = await owner.done('GET', `/projects/${project}/keys`);
    expect(data.filter(({ name }) => name === 'once')).to.have.length(1);
  });

  it('stop with their project, which then is unknown', async () => {
    const organization = (await owner.done('GET', `/projects/${project}`)).organization_id;
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Short' });
    const made = await newKey('sandbox', ['read', 'write'], id);
    expect((await onOther(made.key)).status).to.equal(200);
    const before = (await owner.done('GET', `/organizations/${organization}/projects`)).total;
    expect((await owner.ask('DELETE', `/projects/${id}`)).status).to.equal(204);
    expect([(await search(made.key)).status, (await onOther(made.key)).status]).to.deep.equal([401, 401]);
    for (const [method, path] of [
      ['GET', `/projects/${id}`],
      ['DELETE', `/projects/${id}`],
      ['GET', `/projects/${id}/keys`],
      ['DELETE', `/keys/${made.id}`],
    ] as const) {
      expect((await owner.ask(method, path)).status, `${method} ${path}`).to.equal(404);
    }
    expect((await owner.done('GET', `/organizations/${organization}/projects`)).total).to.equal(before - 1);
  });

  it('go on while a project with production data is not asked for twice', async () => {
    const { project: made } = await owner.done('POST', '/sandbox/quickstart', {});
    const live = await newKey('production', ['read', 'write'], made.id);
    const sandbox = await newKey('sandbox', ['read', 'write'], made.id);
    await service.fhir('/Patient', { key: live.key, method: 'POST', body: '{"resourceType":"Patient"}' });
    const refused = await owner.ask('DELETE', `/projects/${made.id}`);
    expect(refused.status).to.equal(409);
    expect(refused.text).to.contain(`?confirm=${made.id}`);
    expect((await owner.ask('DELETE', `/projects/${made.id}?confirm=yes`)).status).to.equal(422);
    expect((await search(sandbox.key)).status).to.equal(200);
    expect((await owner.ask('DELETE', `/projects/${made.id}?confirm=${made.id}`)).status).to.equal(204);
    expect([(await search(sandbox.key)).status, (await search(live.key)).status]).to.deep.equal([401, 401]);
  });

  it('come with an organization and a project in one call', async () => {
    const newcomer = await signIn(service, 'new@comer.example');
    const answer = await newcomer.ask('POST', '/sandbox/quickstart');
    expect(answer.status).to.equal(201);
    const { organization, project: own, key } = JSON.parse(answer.text);
    expect(key).to.match(/^sk_test_[\w-]{43}$/);
    expect(organization).to.include({ name: 'Quickstart', role: 'owner' });
    expect(own).to.include({ name: 'Quickstart', organization_id: organization.id });
    expect((await search(key)).status).to.equal(200);
    expect(await newcomer.done('GET', `/organizations/${organization.id}`)).to.deep.equal(organization);
    const shown = await newcomer.done('GET', `/projects/${own.id}`);
    expect(shown).to.deep.equal({ ...own, production: true });
    expect((await newcomer.done('GET', `/projects/${own.id}/keys`)).data[0]).to.include({
      last4: key.slice(-4),
    });
  });

  it('leave no secret in any table, nor in the log', async () => {
    const { key } = await newKey('sandbox');
    const body = { name: 'k', environment: 'production', scopes: ['read'] };
    const kept = await owner.ask('POST', `/projects/${project}/keys`, body, {
      'Idempotency-Key': 'secret-1',
    });
    const application = await owner.done('POST', `/projects/${project}/applications`, {
      name: 'Server',
      kind: 'confidential',
      redirect_uris: ['https://app.example/back'],
      scopes: ['patient/*.rs'],
    });
    const secrets = [key, JSON.parse(kept.text).key, application.client_secret];
    expect(application.client_secret).to.match(/^cs_[\w-]{43}$/);
    const { rows: tables } = await service.pool.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    let searched = 0;
    for (const { name } of tables) {
      // Searches for secrets as text, and for bytes that contain the text.
      const { rows } = await service.pool.query<{ row: string }>(`select t::text as row from ${name} t`);
      searched += rows.length;
      for (const { row } of rows) {
        for (const secret of secrets) {
          const own = secret.slice(secret.lastIndexOf('_', 8) + 1);
          expect(row.includes(own) || row.includes(Buffer.from(own).toString('hex')), name).to.equal(false);
        }
      }
    }
    expect(searched).to.be.greaterThan(50);
    for (const secret of secrets) expect(service.log.join('\n')).to.not.contain(secret);
    // A check that this kind of search would find a secret.
    const hash = createHash('sha256').update(key).digest('hex');
    const { rowCount } = await service.pool.query('select from projects.api_key where sha256 = $1', [hash]);
    expect(rowCount).to.equal(1);
  });
});
