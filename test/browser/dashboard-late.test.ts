/** The dashboard when responses are late or errors, and when the person goes elsewhere in the meantime. */
import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { beginProject, callAs, settle, signInTo, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';

const UNKNOWN = '019a0000-0000-7000-8000-000000000000';

/** Holds requests until the test lets them go. */
async function hold(page: Page, url: RegExp, method = 'GET') {
  const held: Route[] = [];
  let isHeld = true;
  await page.route(url, (route) => {
    if (isHeld && route.request().method() === method) held.push(route);
    else void route.fallback();
  });
  return {
    held,
    async first(): Promise<void> {
      while (held.length === 0) await page.waitForEvent('request', { timeout: 5_000 }).catch(() => undefined);
    },
    async release(): Promise<void> {
      isHeld = false;
      for (const route of held.splice(0)) await route.fallback().catch(() => undefined);
    },
  };
}

/** Answers the first request with an error, and lets all others through. */
async function failOnce(page: Page, url: RegExp, method: string): Promise<void> {
  let isFirst = true;
  await page.route(url, async (route) => {
    if (!isFirst || route.request().method() !== method) return route.fallback();
    isFirst = false;
    await route.fulfill({ status: 500, json: { error: { type: 'internal', message: 'the disk is full' } } });
  });
}

const dialogOf = (page: Page) => page.getByRole('dialog');

describe('the dashboard when a response is late or an error', () => {
  let service: InProcess;
  const { open } = useDashboard((started) => {
    service = started;
  });

  it('waits for a response that takes longer than the time between two requests', async () => {
    const page = await open('patient@example.org');
    await page.clock.install();
    await beginProject(page, 'Slow');
    const logs = await hold(page, /\/logs\?/);
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await logs.first();
    await page.clock.runFor(20_000);
    expect(logs.held).to.have.length(1);
    await logs.release();
    await page.getByText('No request').first().waitFor();
    // From then on the list is up to date again.
    const next = page.waitForRequest(/\/logs\?/);
    await page.clock.runFor(5_000);
    await next;
  });

  it('does once what a double click asks for', async () => {
    const page = await open('hasty@example.org');
    const project = await beginProject(page, 'Hasty');
    const endpoint = await callAs<{ readonly id: string }>(page, `/admin/projects/${project}/webhooks`, {
      url: 'http://localhost:9/',
      events: ['*'],
      environment: 'sandbox',
    });
    await callAs(page, `/admin/webhooks/${endpoint.id}/ping`, {});
    await page.goto(`${page.url()}/webhooks/${endpoint.id}`);
    await page.locator('details.delivery').first().locator('summary').click();
    const sent = await hold(page, /\/redeliver$/, 'POST');
    await page.getByRole('button', { name: 'Send again' }).first().dblclick();
    await sent.first();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(sent.held).to.have.length(1);
    await sent.release();
    // In the other environment, the endpoint and its deliveries don't exist.
    await page.goto(page.url().replace('/sandbox/', '/production/'));
    await page.getByRole('alert').waitFor();
    await settle(page);
    expect(await page.locator('details.delivery').count()).to.equal(0);
  });

  it('leaves nothing of an environment on the screen of the other', async () => {
    const page = await open('both@example.org');
    await beginProject(page, 'Both');
    const sandbox = page.url();
    await page.goto(`${sandbox.replace(/sandbox$/, 'production')}/keys`);
    await page.getByRole('link', { name: 'Sandbox', exact: true }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await dialogOf(page).getByLabel('Name').fill('meant for the sandbox');
    await page.goBack();
    await page.waitForURL(/production\/keys/);
    await settle(page);
    expect(await dialogOf(page).count()).to.equal(0);
    await page.goto(`${sandbox.replace(/sandbox$/, 'production')}/try`);
    await page.getByLabel('Why do you need them?').fill('Ticket 1');
    await page.getByRole('button', { name: 'Open the records' }).click();
    await page.getByLabel('Path').fill('/fhir/R4/Patient');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).waitFor();
    await page.getByRole('link', { name: 'Sandbox', exact: true }).click();
    await page.waitForURL(/sandbox\/try/);
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    expect(await page.getByRole('region', { name: 'Answer' }).count()).to.equal(0);
  });

  it('never shows a page of the log under filters that it doesn’t match', async () => {
    const page = await open('filterer@example.org');
    await beginProject(page, 'Filters');
    await page.route(/\/logs\?/, async (route) => {
      const query = new URL(route.request().url()).searchParams;
      const method = query.get('method') ?? 'GET';
      const [n, more] = query.has('cursor') ? [2, null] : [1, 'next'];
      const row = {
        ...{ request_id: `req_${method}${n}`, ts: new Date().toISOString(), method, path: `/${method}${n}` },
        ...{ status: 200, ms: 1, key_id: null, application_id: null, identity: null, environment: 'sandbox' },
        ...{ error: null },
      };
      await route.fulfill({ json: { data: [row], total: 2, next_cursor: more } });
    });
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByText('/GET1').waitFor();
    const second = await hold(page, /\/logs\?.*cursor=/);
    await page.getByRole('button', { name: 'Show more' }).click();
    await second.first();
    await page.getByLabel('Method').selectOption('POST');
    await page.getByText('/POST1').waitFor();
    const late = page.waitForResponse(/cursor=/).catch(() => undefined);
    await second.release();
    await Promise.race([late, page.waitForRequest(/logs\?.*method=POST/)]);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
    expect(await page.getByRole('table').innerText()).to.not.include('/GET');
    // The menu's link removes the filters, also once further pages are shown.
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('/POST2').waitFor();
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await page.getByText('/GET1').waitFor();
    expect(await page.getByRole('table').innerText()).to.not.include('/POST');
  });

  it('shows in the search fields what was searched for', async () => {
    const page = await open('seeker@example.org');
    const project = await beginProject(page, 'Seeking');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Found' }] });
    await service.fhir('/Patient', { method: 'POST', key, body });
    await page.getByRole('link', { name: 'Patients', exact: true }).click();
    await page.getByRole('searchbox').fill('nobody');
    await page.getByRole('searchbox').press('Enter');
    await page.getByText('No patient').waitFor();
    // The field keeps the focus.
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).to.equal('q');
    await page.getByRole('link', { name: 'Patients', exact: true }).click();
    await page.getByRole('table').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).to.equal('');
  });

  it('doesn’t create an organization twice if its project could not be created', async () => {
    const page = await open('founder@example.org');
    await failOnce(page, /\/organizations\/[^/]+\/projects$/, 'POST');
    await page.getByRole('button', { name: 'New organization' }).first().click();
    await page.getByLabel('Name').fill('Founded');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('the disk is full').waitFor();
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Founded' }).waitFor();
    const { data } = await callAs<{ readonly data: readonly object[] }>(page, '/admin/organizations');
    expect(data).to.have.length(1);
  });

  it('keeps what was entered when the sign-in has ended or is too old', async () => {
    const page = await open('writer@example.org');
    await beginProject(page, 'Writing');
    await page.goto(`${page.url().replace(/sandbox$/, 'production')}/patients`);
    await page.getByLabel('Why do you need them?').fill('Ticket 2');
    await page.getByRole('button', { name: 'Open the records' }).click();
    await page.getByRole('button', { name: 'Create a patient' }).click();
    await dialogOf(page).getByLabel('Family').fill('Kept');
    for (const end of [
      "update operations.session set started_at = now() - interval '31 minutes', auth_time = null",
      'delete from operations.session',
    ]) {
      await service.pool.query(end);
      await dialogOf(page).getByRole('button', { name: 'Create a patient' }).click();
      const opened = page.context().waitForEvent('page');
      await dialogOf(page).getByRole('link', { name: 'Sign in again' }).click();
      const other = await opened;
      await other.getByRole('textbox').fill('writer@example.org');
      await other.getByRole('button', { name: 'Sign in', exact: true }).click();
      await other.getByRole('heading', { level: 1 }).waitFor();
      await other.close();
      expect(await dialogOf(page).getByLabel('Family').inputValue()).to.equal('Kept');
    }
    await dialogOf(page).getByRole('button', { name: 'Create a patient' }).click();
    await page.getByRole('heading', { level: 1, name: 'Kept' }).waitFor();
  });

  it('says why a part of a record can’t be shown, and tries again', async () => {
    const page = await open('looker@example.org');
    const project = await beginProject(page, 'Looking');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Seen' }] });
    const made = await service.fhir('/Patient', { method: 'POST', key, body });
    const condition = {
      ...{ resourceType: 'Condition', subject: { reference: `Patient/${String(made.json.id)}` } },
      ...{ code: { text: 'Asthma' }, recordedDate: '2026-01-01' },
    };
    await service.fhir('/Condition', { method: 'POST', key, body: JSON.stringify(condition) });
    const patients = `${page.url()}/patients`;
    await page.goto(`${patients}/${UNKNOWN}?part=changes`);
    await page.getByRole('alert').first().waitFor();
    await settle(page);
    await page.goto(patients);
    await page.getByRole('table').getByRole('link').first().click();
    await failOnce(page, /\/timeline\?/, 'GET');
    await page.getByRole('link', { name: 'Timeline' }).click();
    await page.getByText('the disk is full').waitFor();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    expect(await page.getByText('the disk is full').count()).to.equal(0);
    // A version that isn't listed isn't replaced by another without a word.
    await page.getByRole('region', { name: 'Timeline' }).getByRole('link').first().click();
    await page.getByRole('heading', { level: 2, name: 'Version 1' }).waitFor();
    await page.goto(page.url().replace(/version=\d+/, 'version=999'));
    await page.getByText('Version 999 isn’t').waitFor();
  });

  it('shows an error only with the action that it belongs to', async () => {
    const page = await open('sole@example.org');
    await beginProject(page, 'Sole');
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('button', { name: 'Remove sole@example.org' }).click();
    await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
    await dialogOf(page).getByRole('alert').waitFor();
    await dialogOf(page).getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove sole@example.org' }).click();
    expect(await dialogOf(page).getByRole('alert').count()).to.equal(0);
  });

  it('starts again for another person who signed in in another tab', async () => {
    const page = await open('first@example.org');
    await beginProject(page, 'First');
    const other = await page.context().newPage();
    await other.goto(`${service.url}/signin/out`);
    const leave = other.getByRole('button', { name: 'Sign out' });
    if ((await leave.count()) > 0) await leave.click();
    await signInTo(other, service.url, 'second@example.org');
    await other.close();
    await page.evaluate(() => dispatchEvent(new Event('focus')));
    await page.getByText('second@example.org').waitFor();
    expect(await page.getByText('first@example.org').count()).to.equal(0);
  });

  it('returns the focus to the button that opened a dialog', async () => {
    const page = await open('keyboard@example.org');
    await beginProject(page, 'Keyboard');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    for (const end of ['Escape', 'Cancel', 'Create a key']) {
      await page.getByRole('button', { name: 'Create a key' }).press('Enter');
      await dialogOf(page).getByLabel('Name').fill('server');
      if (end === 'Escape') await page.keyboard.press('Escape');
      else await dialogOf(page).getByRole('button', { name: end }).click();
      if (end === 'Create a key') await page.getByRole('button', { name: 'I have stored it' }).click();
      await dialogOf(page).waitFor({ state: 'detached' });
      await page.waitForFunction(() => document.activeElement?.textContent === 'Create a key');
    }
  });
});
