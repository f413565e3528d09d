/** `annal grants`, and grants in `annal history`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { erasedWith, type GrantData, grantData, granted, revoked } from '#test/support/consents.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, inDays, linkOf, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

interface Listed {
  readonly data: readonly { readonly id: string; readonly [name: string]: unknown }[];
  readonly total: number;
  readonly purged: readonly unknown[];
}

describe('annal grants', () => {
  const email = 'nora@example.org';
  let service: InProcess;
  let events: RecordEvents;
  let owner: AdminUser;
  let record: string;
  let project: string;
  let application: string;
  let client: string;
  let [first, second]: GrantData[] = [];
  let between: string;

  const annal = (...args: string[]) =>
    runCommand(args, { DATABASE_URL: service.databaseUrl, EVENTSTORE_URL });
  async function list(...args: string[]): Promise<Listed> {
    const { code, stdout, stderr } = await annal('grants', ...args, '--json');
    expect([code, stderr.replace(/^annal: Patient.*\n/, '')]).to.deep.equal([0, '']);
    return JSON.parse(stdout);
  }

  before(async () => {
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    owner = await signIn(service, 'developer@example.org');
    const organization = (await owner.done('POST', '/organizations', { name: 'Apps' })).id;
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Diaries' })).id;
    const made = await owner.done('POST', `/projects/${project}/applications`, {
      name: 'Diary',
      kind: 'public',
      redirect_uris: ['https://diary.example/callback'],
      scopes: ['patient/*.rs'],
    });
    [application, client] = [made.id, made.client_id];
    record = await newPatient(service);
    const grant = () =>
      grantData({
        person: identityOf(service, email),
        application_id: application,
        project_id: project,
        expires_at: inDays(30),
      });
    [first, second] = [grant(), grant()];
    await events.append(record, linkOf(service, email), at(granted(first)));
    between = toInstant(nowMicros());
    await events.append(record, at(revoked(first, 'replaced')), at(granted(second)));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.grants where ended_at is null')).rowCount === 1,
    );
  });
  after(async () => {
    await events?.close();
    await service?.stop();
  });

  /** Returns the event with the current time. */
  const at = <E extends { readonly metadata: string }>(event: E): E => ({
    ...event,
    metadata: JSON.stringify({
      ...(JSON.parse(event.metadata) as object),
      recorded_at: toInstant(nowMicros()),
    }),
  });
  const ids = ({ data }: Listed) => data.map(({ id }) => id);
  const both = () => [second?.grant_id, first?.grant_id];

  it('lists by patient, application and project, ended ones too', async () => {
    const byRecord = await list(record);
    expect(ids(byRecord)).to.deep.equal(both());
    expect(byRecord.data[1]).to.deep.include({
      status: 'revoked',
      end_reason: 'replaced',
      patient: record,
      pairwise_patient: first?.patient,
      person: identityOf(service, email),
      application: { id: application, name: 'Diary', project },
      scopes_text: ['Read your observations'],
      lang: 'en',
      granted_by: 'patient',
      expires_at: first?.expires_at,
    });
    expect(ids(await list('mira', 'sand'))).to.deep.equal(both());
    expect(ids(await list('--application', application))).to.deep.equal(both());
    expect(ids(await list('--application', client, '--project', 'Diaries'))).to.deep.equal(both());
    expect(ids(await list('--project', project, '--environment', 'production'))).to.deep.equal([]);
    const shown = await annal('grants', record);
    expect(shown.stdout)
      .to.match(new RegExp(`^${second?.grant_id} +active +Diary +${record}`, 'm'))
      .and.match(new RegExp(`^${first?.grant_id} +revoked .* replaced$`, 'm'))
      .and.contain('2 grants, 1 active. Times are UTC.');
    const none = await annal('grants', await newPatient(service));
    expect(none.stdout).to.equal('No grants.\n');
  });

  it('lists what there was at a moment, as it was then', async () => {
    const { data } = await list(record, '--at', between);
    expect(data).to.have.length(1);
    expect(data[0]).to.deep.include({ id: first?.grant_id, status: 'active', ended_at: null });
    expect((await list(record, '--at', '2020-01-01')).total).to.equal(0);
    expect(ids(await list(record, '--at', between.slice(0, 10)))).to.deep.equal(both());
    const past = await annal('grants', record, '--at', between);
    expect(past.stdout).to.contain(`1 grant as of ${between}, 1 active`);
  });

  it('says what is wrong with a question', async () => {
    const faults: [string, ...string[]][] = [
      ['name a patient, --application or --project'],
      ['--environment needs --project', record, '--environment', 'sandbox'],
      ['expected a date', record, '--at', 'revision:3'],
      ['needs a time zone', record, '--at', '2026-03-01T09:30:00'],
      ['is in the future', record, '--at', '2999-01-01'],
      ['unknown application app_x', '--application', 'app_x'],
      ['unknown project nothing', '--project', 'nothing'],
      ['no patient matches', 'nobody', 'at', 'all'],
    ];
    for (const [message, ...args] of faults) {
      const { code, stderr } = await annal('grants', ...args);
      expect(code, message).to.be.greaterThan(0);
      expect(stderr).to.contain(message);
    }
  });

  it('has an application’s grants on purged records, of which only ids and dates are left', async () => {
    const gone = grantData({ application_id: application, project_id: project });
    const patient = await newPatient(service);
    // The purge becomes the last event of the project that owns the record.
    const home = (await service.pool.query('select project from projects.api_key limit 1')).rows[0].project;
    const purge = erasedWith(patient, [gone]);
    await events.appendTo(`project-${home}`, purge);
    await eventually(
      async () => (await service.pool.query('select from consents.erased_grants')).rowCount === 1,
    );
    const { data, purged } = await list('--application', application);
    expect(data).to.have.length(2);
    expect(purged).to.have.length(1);
    expect(purged[0]).to.deep.include({ id: gone.grant_id, application });
    expect((await annal('grants', '--application', application)).stdout).to.contain(
      '1 grant more on records that were purged.',
    );
  });

  it('reads a read model that annal rebuild builds beside the serving one', async () => {
    const before = await list('--application', application);
    const { code, stdout } = await annal('rebuild', 'consents', '--json');
    expect(code, stdout).to.equal(0);
    expect(stdout).to.contain('consents').and.contain('swapped');
    expect(await list('--application', application)).to.deep.equal(before);
  });

  it('is told by annal history, too: in the table, as JSON and on the page', async () => {
    const { stdout } = await annal('history', record);
    expect(stdout).to.match(/Links and grants/);
    for (const type of ['RecordLinked', 'ConsentGranted', 'ConsentRevoked']) expect(stdout).to.contain(type);
    const { access, versions } = JSON.parse((await annal('history', record, '--json')).stdout);
    expect(access.map(({ type }: { type: string }) => type)).to.deep.equal([
      'ConsentGranted',
      'ConsentRevoked',
      'ConsentGranted',
      'RecordLinked',
    ]);
    expect(access[1].data).to.include({ grant_id: first?.grant_id, reason: 'replaced' });
    expect(versions).to.have.length(1);
    const file = join(await temporaryFolder(), 'history.html');
    expect((await annal('history', record, '--html', file)).code).to.equal(0);
    const page = await readFile(file, 'utf8');
    expect(page).to.contain('Who may use the record').and.contain('Read your observations');
    const one = await annal('history', `Patient/${record}`, '--json');
    expect(JSON.parse(one.stdout)).to.not.have.property('access');
  });
});
