/** The dashboard in a real browser: a developer's first minutes, without a terminal, on a phone and a desktop. */
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { accessibilityFaults, openBrowser, picture } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

describe('the dashboard', () => {
  let browser: Browser;
  let service: InProcess;
  let context: BrowserContext | undefined;
  let page: Page;
  const complaints: string[] = [];

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    service = await startInProcess();
  });

  after(async () => {
    await browser?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  const open = async (email: string, options: BrowserContextOptions = {}): Promise<void> => {
    context = await browser.newContext({ viewport: DESKTOP, locale: 'en', ...options });
    page = await context.newPage();
    complaints.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${service.url}/app`);
    await page.getByRole('textbox').fill(email);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
  };

  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  /** Makes an organization with a project on the first screen. */
  const begin = async (name: string): Promise<void> => {
    await page.getByRole('button', { name: 'New organization' }).first().click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };

  it('leads a newcomer from the sign-in to a key, and shows its first request in the log', async () => {
    await open('newcomer@example.org');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Projects');
    await begin('Clinic');
    expect(new URL(page.url()).pathname).to.match(/^\/app\/projects\/proj_[\w-]+\/sandbox$/);
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('server');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('dialog').getByRole('region').innerText();
    expect(key).to.match(/^sk_test_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.content()).not.to.include(key);
    await page.getByRole('cell', { name: /^server …/ }).waitFor();
    const answer = await fetch(`${service.url}/fhir/R4/Patient/none`, { headers: { 'X-Api-Key': key } });
    expect(answer.status).to.equal(404);
    const id = answer.headers.get('service-request-id') ?? '';
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByRole('row').filter({ hasText: id }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: id }).innerText())
      .to.include('404')
      .and.include('GET');
    expect(complaints).to.deep.equal([]);
  });

  it('says how much a key is used before it is revoked, and revokes it', async () => {
    await open('rotator@example.org');
    await begin('Rotation');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('job');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('dialog').getByRole('region').innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Make a key in place of “job”' }).click();
    const next = await page.getByRole('dialog').getByRole('region').innerText();
    expect(next)
      .to.match(/^sk_test_/)
      .and.not.equal(key);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const works = async (it: string): Promise<number> =>
      (await fetch(`${service.url}/fhir/R4/Patient/none`, { headers: { 'X-Api-Key': it } })).status;
    expect([await works(key), await works(next)]).to.deep.equal([404, 404]);
    await page.getByRole('button', { name: 'Revoke “job”' }).last().click();
    await page
      .getByRole('dialog')
      .getByText(/used it in the last hour/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Show one revoked key' }).waitFor();
    expect([await works(key), await works(next)]).to.deep.equal([401, 404]);
  });

  it('shows nothing of a project of others, also by its URL', async () => {
    await open('owner@example.org');
    await begin('Private');
    const url = page.url();
    await context?.close();
    await open('stranger@example.org');
    for (const screen of ['', '/keys', '/requests']) {
      await page.goto(url + screen);
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
      expect(await page.content()).not.to.include('Private');
    }
  });

  for (const colorScheme of ['light', 'dark'] as const)
    for (const [size, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP }))
      it(`is accessible, ${colorScheme}, ${size}`, async () => {
        await open(`look-${colorScheme}-${size}@example.org`, { colorScheme, viewport });
        await picture(page, `app-home-${colorScheme}-${size}`);
        await begin('Look');
        const base = page.url();
        for (const screen of ['', '/keys', '/requests']) {
          await page.goto(base + screen);
          await page.getByText('Loading').waitFor({ state: 'hidden' });
          await page.getByRole('heading', { level: 1 }).waitFor();
          expect(await accessibilityFaults(page), screen).to.deep.equal([]);
          const overflow = await page.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          expect(overflow, screen).to.equal(0);
          await picture(page, `app${screen.replace('/', '-')}-${colorScheme}-${size}`);
        }
      });

  it('is small, cached by its content, and needs no other host', async () => {
    await open('size@example.org');
    const sizes = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map(
        ({ name, encodedBodySize }) => ({ name, encodedBodySize }),
      ),
    );
    for (const { name } of sizes) expect(name.startsWith(service.url), name).to.equal(true);
    expect(sizes.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)).to.be.within(5_000, 200_000);
    const script = sizes.find(({ name }) => name.endsWith('.js'))?.name ?? '';
    const answer = await fetch(script);
    expect(answer.headers.get('cache-control')).to.include('immutable');
    expect((await fetch(`${service.url}/app/assets/none.js`)).status).to.equal(404);
  });
});
