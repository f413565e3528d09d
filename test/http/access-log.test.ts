/** `GET /v1/patients/{id}/access-log` and `annal access-log` (docs/access-log.md). */
import { expect } from 'chai';
import { z } from 'zod';
import { openPool } from '#src/database/pool.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';

const entrySchema = z.strictObject({
  id: z.uuid(),
  ts: z.string(),
  action: z.string(),
  resource_type: z.string().nullable(),
  resource_id: z.string().nullable(),
  status: z.string(),
  count: z.int().nullable(),
  purpose: z.string().nullable(),
  actor: z.string().nullable(),
  actor_ref: z.string(),
  request_id: z.string(),
  receipt: z.null(),
});
const pageSchema = z.strictObject({
  data: z.array(entrySchema),
  total: z.int(),
  next_cursor: z.string().nullable(),
});

describe('the access log of a patient', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let application: Application;
  let record: string;
  let other: string;
  let allowed: Allowed;
  let elsewhere: Allowed;

  const patient = async (): Promise<string> =>
    String((await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] })).json.id);
  const get = (path: string, key = service.key) => service.fhir(`${service.url}${path}`, { key });
  async function page(query = '', of = record): Promise<z.output<typeof pageSchema>> {
    const { status, text } = await get(`/v1/patients/${of}/access-log${query}`);
    expect(status, text).to.equal(200);
    return pageSchema.parse(JSON.parse(text));
  }
  const annal = (...args: string[]): Promise<CommandOutcome> =>
    runCommand(['access-log', ...args], { DATABASE_URL: service.databaseUrl, EVENTSTORE_URL });

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    [record, other] = [await patient(), await patient()];
    allowed = await granting.allow(application, record);
    elsewhere = await granting.allow(application, other);
    expect(await page()).to.deep.equal({ data: [], total: 0, next_cursor: null });
    for (const path of [`/Patient/${allowed.patient}`, '/Observation', '/Observation/_history'])
      expect((await service.fhir(path, { key: allowed.token })).status).to.equal(200);
    await service.fhir(`/Patient/${elsewhere.patient}`, { key: elsewhere.token });
    await service.fhir(`/Observation/${other}`, { key: allowed.token });
    await eventually(async () => (await page()).total === 4);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  it('lists who read what, the newest first, with names', async () => {
    const { data, total } = await page();
    expect(total).to.equal(4);
    expect(
      data.map(({ action, resource_type, resource_id, status, count }) => [
        action,
        resource_type,
        resource_id,
        status,
        count,
      ]),
    ).to.deep.equal([
      ['read', 'Observation', other, 'not_found', 0],
      ['history-type', 'Observation', null, 'ok', 0],
      ['search-type', 'Observation', null, 'ok', 0],
      ['read', 'Patient', record, 'ok', 1],
    ]);
    for (const { actor, actor_ref, request_id } of data) {
      expect([actor, actor_ref]).to.deep.equal(['Hearty', `application/${application.applicationId}`]);
      expect(request_id).to.match(/^req_/);
    }
    const times = data.map(({ ts }) => ts);
    expect(times).to.deep.equal([...times].sort().reverse());
  });

  it('is read page by page; entries that come meanwhile move nothing', async () => {
    const first = await page('?limit=2');
    await service.fhir(`/Patient/${allowed.patient}`, { key: allowed.token });
    const second = await page(`?limit=2&cursor=${first.next_cursor}`);
    expect([first.total, second.total, second.next_cursor]).to.deep.equal([4, 4, null]);
    const all = (await page('?limit=200')).data.map(({ id }) => id);
    expect([...first.data, ...second.data].map(({ id }) => id)).to.deep.equal(all.slice(1));
    const foreign = await get(`/v1/patients/${other}/access-log?cursor=${first.next_cursor}`);
    expect(foreign.status).to.equal(422);
  });

  it('is shown to the project of the patient alone, also of a deleted one', async () => {
    const path = `/v1/patients/${record}/access-log`;
    expect((await get(path, allowed.token)).status).to.equal(403);
    expect((await get(path, await granting.clientToken(application))).status).to.equal(404);
    for (const id of ['018f0000-0000-7000-8000-000000000000', 'x'])
      expect((await get(`/v1/patients/${id}/access-log`)).status).to.equal(404);
    const gone = await patient();
    await service.fhir(`/Patient/${gone}`, { method: 'DELETE' });
    expect((await page('', gone)).total).to.equal(0);
  });

  it('is listed by patient, application, key and time on the command line', async () => {
    const today = new Date().toISOString().slice(0, 10);
    const json = async (...args: string[]) => {
      const { code, stdout, stderr } = await annal(...args, '--json');
      expect(code, stderr).to.equal(0);
      return z.object({ data: z.array(z.looseObject({})), total: z.int() }).parse(JSON.parse(stdout));
    };
    const by = ['--application', application.applicationId];
    const ofApplication = await json(...by);
    expect(ofApplication.total).to.equal(6);
    expect(ofApplication.data).to.have.length(6);
    expect(ofApplication.data[0]).to.deep.include({
      record,
      actor: 'Hearty',
      grant_id: allowed.data.grant_id,
    });
    expect((await json(record)).total).to.equal(5);
    expect((await json(...by, '--from', '2020', '--to', '2021-03')).total).to.equal(0);
    expect((await json('--from', '2020-01-01')).total).to.equal(6);
    const patients = await json(...by, '--from', today.slice(0, 4), '--patients');
    expect(patients.data.map(({ patient: id, entries }) => [id, entries])).to.deep.equal([
      [record, 5],
      [other, 1],
    ]);
    const shown = await annal(...by);
    expect(shown.stdout)
      .to.contain('6 entries on 2 patients. Times are UTC.')
      .and.to.contain('Hearty')
      .and.to.contain(`Observation/${other}`);
    expect((await annal(...by, '--patients')).stdout).to.contain('2 patients. Times are UTC.');
    const { rows } = await service.pool.query('select key_id from projects.api_key limit 1');
    expect((await annal('--key', rows[0].key_id)).stdout).to.equal('No entries.\n');
    for (const [args, code, said] of [
      [[], 2, 'name a patient, --application, --key, --from or --to'],
      [['--key', 'key_x'], 1, 'unknown key key_x'],
      [['--application', 'app_x'], 1, 'unknown application app_x'],
      [['--from', 'March'], 2, 'expected a year, a month (2026-03)'],
      [['--key', 'a', '--application', 'b'], 2, 'either --application or --key'],
    ] as const) {
      const refused = await annal(...args);
      expect(refused, args.join(' ')).to.include({ code, stdout: '' });
      expect(refused.stderr).to.contain(said);
    }
  });

  it('answers 503 and shows nothing while the database takes no writes', async () => {
    const admin = openPool(service.databaseUrl, { max: 1, options: '-c default_transaction_read_only=off' });
    const readOnly = async (value: 'on' | 'off'): Promise<void> => {
      const name = new URL(service.databaseUrl).pathname.slice(1);
      await admin.query(`alter database "${name}" set default_transaction_read_only = ${value}`);
      await admin.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'annal access log' and datname = current_database()",
      );
    };
    const unread = await patient();
    const { token, patient: id } = await granting.allow(application, unread);
    await readOnly('on');
    try {
      // The first read may fail because its connection was ended.
      for (let n = 0; n < 3; n += 1) {
        const { status, text } = await service.fhir(`/Patient/${id}`, { key: token });
        expect(status).to.equal(503);
        expect(text).not.to.contain('Sand');
      }
    } finally {
      await readOnly('off');
      await admin.end();
    }
    await eventually(async () => (await service.fhir(`/Patient/${id}`, { key: token })).status === 200);
    expect((await page('', unread)).data.every(({ status }) => status === 'ok')).to.equal(true);
  });
});
