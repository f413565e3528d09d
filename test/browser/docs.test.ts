/** The documentation page in a real browser that reaches nothing but the service. */
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { signIn } from '#test/support/admin.ts';
import { accessibilityFaults, openBrowser } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the documentation page in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  /** What the browser complained about: refused by the policy, failed, not found. */
  const complaints: string[] = [];
  /** Requests to anywhere else, none of which is let through. */
  const elsewhere: string[] = [];

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

  const open = async (path: string, javaScriptEnabled = true): Promise<Page> => {
    const page = await (await browser.newContext({ javaScriptEnabled })).newPage();
    complaints.length = 0;
    elsewhere.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.route('**/*', async (route) => {
      const url = route.request().url();
      if (url.startsWith(`${service.url}/`) || url.startsWith('data:')) return route.continue();
      elsewhere.push(url);
      return route.abort();
    });
    await page.goto(service.url + path);
    return page;
  };

  /** Opens a group of operations. */
  const group = async (page: Page, tag: string) => {
    const section = page.locator('.opblock-tag-section', { has: page.locator(`h3[data-tag="${tag}"]`) });
    await section.locator('h3').click();
    await section.locator('.opblock').first().waitFor();
    return section;
  };

  it('shows every group and its operations, asks nobody else for anything, and keeps to its policy', async () => {
    const page = await open('/docs');
    await page.locator('.opblock-tag').first().waitFor();
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      readonly tags: readonly { readonly name: string }[];
      readonly paths: Readonly<
        Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>
      >;
    };
    const shown = await page
      .locator('.opblock-tag')
      .evaluateAll((all) => all.map((each) => each.dataset.tag));
    expect(shown).to.deep.equal(document.tags.map(({ name }) => name));
    const inService = Object.values(document.paths)
      .flatMap((path) => Object.values(path))
      .filter(({ tags }) => tags.includes('Service'));
    expect(await (await group(page, 'Service')).locator('.opblock').count()).to.equal(inService.length);
    expect(complaints).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });

  it('sends a request with the credential that it was given, and shows the answer', async () => {
    const { token } = await signIn(service, 'reader@example.org');
    const page = await open('/docs');
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const container = page.locator('.auth-container', { hasText: 'idToken' });
    await container.locator('input').fill(token);
    await container.locator('.authorize').click();
    await page.locator('.btn-done').first().click();
    const block = (await group(page, 'Installation')).locator('.opblock', { hasText: '/admin/config' });
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Try it out' }).click();
    await block.getByRole('button', { name: 'Execute' }).click();
    const answer = block.locator('.live-responses-table .response');
    await answer.waitFor();
    expect(await answer.locator('.response-col_status').first().textContent()).to.match(/^200/);
    expect(await answer.textContent()).to.contain(service.base);
    expect(complaints).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });

  it('says without JavaScript where the description is', async () => {
    const page = await open('/docs', false);
    expect(await page.locator('a[href="/openapi.json"]').isVisible()).to.equal(true);
  });

  it('explains errors on a page that everybody can read', async () => {
    const page = await open('/docs/errors#throttled');
    expect(await page.locator('#throttled').isVisible()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });
});
