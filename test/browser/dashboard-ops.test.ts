/**
 * The operators' screens in a real browser: what needs their attention, a rebuild during reads, and what only operators can
 * see.
 */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { accessibilityFaults, picture } from '#test/support/browser.ts';
import { checkLooks, settle, useDashboard } from '#test/support/dashboard.ts';
import { holdRebuild } from '#test/support/held-rebuild.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const SCREENS = [
  '',
  '/read-models',
  '/processes',
  '/sizes',
  '/failed-requests',
  '/slow-requests',
  '/projects',
  '/issuers',
  '/instances',
  '/verifications',
];
const EVENT = '01900000-0000-7000-8000-000000000001';

describe('the dashboard of operators', () => {
  let service: InProcess;
  let owner: AdminUser;
  let application: string;
  const { complaints, open } = useDashboard(
    async (started) => {
      service = started;
      owner = await signIn(service, 'owner@clinic.example');
      await fill();
    },
    { PRODUCTION_ACCESS: 'request' },
  );

  /** Creates two requests for production, an application, a parked event, and samples of sizes. */
  async function fill(): Promise<void> {
    const clinic = (await owner.done('POST', '/organizations', { name: 'Heart clinic' })).id;
    for (const [name, use] of [
      ['Diary', 'Patients of our clinic keep a diary of their symptoms, from March on.'],
      ['Research', 'A study on sleep.'],
    ]) {
      const project = (await owner.done('POST', `/organizations/${clinic}/projects`, { name })).id;
      await owner.done('POST', `/projects/${project}/production-requests`, { use });
      application = (
        await owner.done('POST', `/projects/${project}/applications`, {
          ...{ name: 'Heart diary', environment: 'sandbox', kind: 'public', scopes: ['openid'] },
          redirect_uris: ['https://diary.example/back'],
        })
      ).id;
    }
    await service.pool.query(
      `insert into operations.parked (process, stream, revision, position, event_id, error, attempts, retry_at)
       values ('webhooks', 'record-01900000-0000-7000-8000-000000000002', 3, '1', $1,
               'the statement timed out', 6, now() + interval '40 minutes')`,
      [EVENT],
    );
    await service.pool.query(
      `insert into operations.request_log (request_id, at, project, environment, method, path, status, ms, error)
       select 'req_throttled', (extract(epoch from clock_timestamp()) * 1000000)::int8 - 3600000000, id, 'sandbox', 'GET',
              '/fhir/R4/Patient', 429, 1, '{"type":"throttled","fields":[]}' from projects.project where name = 'Diary'`,
    );
    await service.pool.query(
      `insert into operations.size_sample
       select (now() at time zone 'utc')::date - n, 90000000 - 2000000 * n,
              json_build_object('log', 30000000 - 900000 * n, 'search', 9000000 - 200000 * n),
              json_build_object('count', 400 - 10 * n, 'bytes', 40000000 - 1000000 * n)
         from generate_series(0, 20) n`,
    );
    for (let n = 0; n < 20; n += 1)
      await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] });
  }

  /**
   * Reads and searches until the returned function is called. That function returns how many requests were sent and which of
   * them failed.
   */
  function readMeanwhile(): () => Promise<{ readonly sent: number; readonly failed: readonly string[] }> {
    let isOver = false;
    const failed: string[] = [];
    const reading = (async () => {
      let sent = 0;
      for (; !isOver; sent += 1) {
        const answer = await service.fhir(sent % 2 === 0 ? '/Patient?family=Sand' : '/Patient?_count=5');
        if (answer.status !== 200) failed.push(String(answer));
      }
      return sent;
    })();
    return async () => {
      isOver = true;
      return { sent: await reading, failed };
    };
  }

  it('names what needs a person, and rebuilds a read model while reads go on', async () => {
    const page = await open('developer@example.org');
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.getByRole('heading', { level: 1, name: 'Needs attention' }).waitFor();
    const needs = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem');
    await needs.filter({ hasText: 'The process webhooks could not handle an event' }).waitFor();
    expect(await needs.first().innerText())
      .to.include('Now')
      .and.include('could not handle');
    await needs.filter({ hasText: '2 projects are waiting for production access' }).waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'ops-needs');
    await page.getByRole('link', { name: 'Read models' }).first().click();

    const release = await holdRebuild(service.databaseUrl, 'search');
    const stopReading = readMeanwhile();
    await page.getByRole('button', { name: 'Rebuild search' }).click();
    const start = page.getByRole('dialog').getByRole('button', { name: 'Start the rebuild' });
    expect(await start.isDisabled()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'ops-start');
    await page.getByLabel('As fast as possible').check();
    await page.getByLabel('Confirm').fill('serach');
    expect(await start.isDisabled()).to.equal(true);
    await page.getByLabel('Confirm').fill('search');
    await start.click();
    const running = page.getByRole('list', { name: 'Rebuilds under way' }).getByRole('listitem');
    await running.filter({ hasText: 'Running' }).waitFor();
    expect(await running.innerText()).to.include('started by developer@example.org');
    await page.getByRole('row').filter({ hasText: 'search' }).filter({ hasText: 'Being rebuilt' }).waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'ops-rebuild');
    await release();
    const ended = page.getByRole('region', { name: 'Earlier rebuilds' });
    await ended.getByRole('row').filter({ hasText: 'search' }).filter({ hasText: 'Done' }).waitFor();
    const { sent, failed } = await stopReading();
    expect(failed).to.deep.equal([]);
    expect(sent).to.be.above(20);

    // The next rebuild is cancelled.
    const releaseNext = await holdRebuild(service.databaseUrl, 'history');
    await page.getByRole('button', { name: 'Rebuild several' }).click();
    await page.getByRole('dialog').getByLabel('history').check();
    await page.getByLabel('Confirm').fill('history');
    await start.click();
    await running.filter({ hasText: 'Running' }).waitFor();
    await page.getByRole('button', { name: 'Cancel the rebuild' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the rebuild' }).click();
    await ended.getByRole('row').filter({ hasText: 'history' }).filter({ hasText: 'Cancelled' }).waitFor();
    await releaseNext();
    expect(complaints).to.deep.equal([]);
  });

  it('retries parked events, answers requests for production, and gives trust', async () => {
    const page = await open('developer@example.org');
    await page.goto(`${service.url}/app/ops/processes`);
    const parked = page.getByRole('listitem').filter({ hasText: EVENT });
    await parked.getByText('the statement timed out').waitFor();
    await parked.getByRole('button', { name: 'Retry now' }).click();
    // The event fails again because its stream doesn't exist; the list updates by itself.
    await parked.getByText('7 · since').waitFor();

    await page.getByRole('link', { name: 'Approvals', exact: true }).click();
    await page.getByRole('button', { name: 'Allow production for Diary' }).waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'ops-approvals');
    await page.getByRole('button', { name: 'Allow production for Diary' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Allow', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Diary' }).filter({ hasText: 'Allowed' }).waitFor();
    await page.getByRole('button', { name: 'Refuse production for Research' }).click();
    await page.getByLabel('Reason').fill('Confirm your domain first.');
    await page.getByRole('dialog').getByRole('button', { name: 'Refuse', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Research' }).getByText('Confirm your domain').waitFor();
    await page.getByText('No request is waiting.').waitFor();
    await page.getByRole('button', { name: 'Withdraw production from Diary' }).click();
    const withdrawing = page.getByRole('dialog');
    const confirm = withdrawing.getByRole('button', { name: 'Withdraw production' });
    await withdrawing.getByRole('textbox').fill('Dairy');
    expect(await confirm.isDisabled()).to.equal(true);
    await withdrawing.getByRole('textbox').fill('Diary');
    await picture(page, 'ops-withdraw');
    await confirm.click();
    await page.getByRole('row').filter({ hasText: 'Diary' }).getByText('annal production allow').waitFor();

    await page.getByRole('button', { name: 'Trust an application' }).click();
    await page.getByLabel('Id of the application').fill(application);
    await page.getByRole('dialog').getByRole('button', { name: 'Trust an application' }).click();
    await page.getByRole('row').filter({ hasText: application }).waitFor();
    await page.getByRole('button', { name: 'End the trust in “Heart diary”' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End trust' }).click();
    await page.getByText('No application is trusted.').waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('says what is urgent on every screen, finds a failed request, and never shows old news as new', async () => {
    await service.pool.query(
      `insert into operations.request_log (request_id, at, project, environment, method, path, status, ms, error)
       select 'req_failed' || n, (extract(epoch from clock_timestamp()) * 1000000)::int8 - 1000000 * n, id, 'sandbox', 'GET',
              '/fhir/R4/Patient', 503, 7, '{"type":"unavailable","fields":[]}'
         from projects.project, generate_series(1, 5) n where name in ('Diary', 'Research')`,
    );
    const page = await open('developer@example.org');
    await page.clock.install();
    await page.goto(`${service.url}/app/ops`);
    await page.getByText('10 requests failed within the last quarter of an hour').waitFor();
    await page.getByRole('link', { name: 'Open: Failed requests' }).click();
    const row = page.getByRole('row').filter({ hasText: 'Diary' });
    await row.filter({ hasText: '503 unavailable' }).filter({ hasText: 'Heart clinic' }).waitFor();
    await row.getByRole('link', { name: 'req_failed1' }).click();
    await page.getByRole('heading', { level: 2, name: 'req_failed1' }).waitFor();
    const urgent = page.getByRole('status').getByRole('link');
    await urgent.filter({ hasText: '2 things need you now' }).waitFor();
    expect(await page.title()).to.equal('(2) Failed requests – Annal');
    await urgent.click();
    await page.getByRole('heading', { level: 1, name: 'Needs attention' }).waitFor();
    await service.pool.query('delete from operations.request_log where status = 503');
    await service.pool.query('delete from operations.parked');
    await page.clock.runFor(11_000);
    await page.getByText('Nothing needs').waitFor();
    await page.waitForFunction(() => document.title === 'Needs attention – Annal');
    await page.context().setOffline(true);
    await page.clock.runFor(11_000);
    await page.getByText('This may be out of date').waitFor();
    expect(await page.getByText('Nothing needs').count()).to.equal(0);
    await page.context().setOffline(false);
  });

  itAtFullSize(
    'is usable by everybody who may see it, on a desktop and a phone, in both themes, in German',
    async () => {
      const page = await open('developer@example.org');
      for (const screen of SCREENS)
        await checkLooks(page, `ops${screen.replace('/', '-')}`, `${service.url}/app/ops${screen}`);
      await page.getByText('developer@example.org').click();
      await page.getByLabel('Language').selectOption('Deutsch');
      await page.goto(`${service.url}/app/ops`);
      await page.getByRole('heading', { level: 1, name: 'Zu erledigen' }).waitFor();
      await settle(page);
      await picture(page, 'ops-german');
      expect(complaints).to.deep.equal([]);
    },
  );

  it('verifies everything, shows the report, and the key that signs', async () => {
    const page = await open('developer@example.org');
    await page.goto(`${service.url}/app/ops/verifications`);
    await page.getByRole('button', { name: 'Verify everything' }).click();
    const verified = page.getByRole('row').filter({ hasText: 'The whole installation' });
    await verified
      .getByText(/No fault|faults?$/)
      .first()
      .waitFor({ timeout: 60_000 });
    const answer = await fetch(`${service.url}/.well-known/audit-keys`);
    const { keys } = (await answer.json()) as { readonly keys: readonly [{ readonly x: string }] };
    await page.getByText(keys[0].x).waitFor();
    await page.getByRole('link', { name: 'The whole installation' }).click();
    await page.getByRole('heading', { name: 'What was compared' }).waitFor();
    await picture(page, 'ops-verification');
    expect(complaints).to.deep.equal([]);
  });

  it('doesn’t exist for a developer of the same organization, nor for the owner of another', async () => {
    const operator = await signIn(service, 'developer@example.org');
    const organization = (await operator.done('GET', '/organizations')).data[0]?.id;
    const { issuer, subject, email } = await signIn(service, 'dev@example.org');
    await operator.done('POST', `/organizations/${organization}/members`, {
      ...{ issuer, subject, email, role: 'developer' },
    });
    for (const person of ['dev@example.org', 'owner@clinic.example']) {
      const page = await open(person);
      expect(await page.getByRole('link', { name: 'Operations' }).count()).to.equal(0);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const screen of SCREENS) {
        await page.goto(`${service.url}/app/ops${screen}`);
        await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
      }
      expect(asked.filter((path) => path.includes('/operations'))).to.deep.equal([]);
      const status = await page.evaluate(async () => {
        const headers = { 'X-Service-Session': '1' };
        return (await fetch('/app/api/admin/operations/read-models', { headers })).status;
      });
      expect(status).to.equal(403);
      await page.context().close();
    }
  });
});
