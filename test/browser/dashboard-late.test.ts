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
});
