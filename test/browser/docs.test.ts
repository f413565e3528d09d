/** The documentation page in a real browser that reaches nothing but the service. */
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { signIn } from '#test/support/admin.ts';
import { accessibilityFaults, openBrowser } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { someOf } from '#test/support/scale.ts';
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

  const open = async (
    path: string,
    javaScriptEnabled = true,
    options: BrowserContextOptions = {},
  ): Promise<Page> => {
    const page = await (await browser.newContext({ javaScriptEnabled, ...options })).newPage();
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
    const block = (await group(page, 'Service')).locator('.opblock', { hasText: '/admin/config' });
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

  // `http/docs-examples` sends all of them without a browser.
  for (const path of someOf(['/docs'], 0))
    it('sends prefilled requests that work: a new Patient, and an update of it', async () => {
      const page = await open(path);
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      const container = page.locator('.auth-container', { hasText: 'apiKey  (http' });
      await container.locator('input').fill(service.key);
      await container.locator('.authorize').click();
      await page.locator('.btn-done').first().click();
      const section = await group(page, 'FHIR: resources');
      const execute = async (operation: string, rid?: string) => {
        const block = section.locator(`[id$="-${operation}"]`);
        await block.locator('.opblock-summary-control').click();
        await block.getByRole('button', { name: 'Try it out' }).click();
        if (rid !== undefined) await block.locator('tr[data-param-name="rid"] input').fill(rid);
        await block.getByRole('button', { name: 'Execute' }).click();
        const answer = block.locator('.live-responses-table .response');
        await answer.waitFor();
        const status = await answer.locator('.response-col_status').first().textContent();
        return { status: status?.slice(0, 3), text: (await answer.textContent()) ?? '' };
      };
      const created = await execute('fhirCreate');
      expect(created.status, created.text).to.equal('201');
      const id = /"id": ?"([0-9a-f-]{36})"/.exec(created.text)?.[1] ?? '';
      const updated = await execute('fhirUpdate', id);
      expect(updated.status, updated.text).to.equal('200');
      expect(updated.text).to.include(id);
      expect((await execute('fhirTransaction')).status).to.equal('200');
      expect(complaints).to.deep.equal([]);
    });

  for (const width of someOf([390, 1280], 0)) {
    it(`keeps its headings in view with everything open, ${width} pixels wide`, async () => {
      const page = await open('/docs');
      await page.setViewportSize({ width, height: 800 });
      const headings = page.locator('.opblock-tag');
      await headings.first().waitFor();
      const names = await headings.evaluateAll((all) => all.map((each) => each.dataset.tag));
      await headings.evaluateAll((all) => {
        for (const each of all) each.dispatchEvent(new Event('click', { bubbles: true }));
      });
      for (const name of names)
        await page
          .locator(`.opblock-tag-section.is-open h3[data-tag="${name}"]`)
          .waitFor({ state: 'attached' });
      const links = page.getByRole('navigation', { name: 'Groups' }).getByRole('link');
      expect(await links.allTextContents()).to.deep.equal(names);
      for (const name of ['Observations', 'Webhooks', 'Patients']) {
        await links.filter({ hasText: new RegExp(`^${name}$`) }).click();
        // Further down in the group its heading still stands at the top, and the list of groups beside or above it.
        await page.mouse.move(width - 60, 600);
        await page.mouse.wheel(0, 150);
        await page.locator(`#groups a[aria-current]`, { hasText: name }).waitFor();
        const top = await page
          .locator(`h3[data-tag="${name}"]`)
          .evaluate((heading) => heading.getBoundingClientRect().top);
        expect(top, name).to.be.within(0, 60);
        for (const link of width > 1000 ? await links.all() : [links.filter({ hasText: name }).first()]) {
          const place = await link.boundingBox();
          expect((place?.y ?? -1) >= 0 && (place?.y ?? 801) < 800, `${name}: a link is out of view`).to.equal(
            true,
          );
        }
      }
      const own = (await accessibilityFaults(page)).filter((fault) => fault.includes('groups'));
      expect(own).to.deep.equal([]);
    });
  }

  for (const colorScheme of someOf(['dark', 'light'] as const, 1))
    it(`fits a phone with an operation open, in a ${colorScheme} theme`, async () => {
      const page = await open('/docs', true, { colorScheme, viewport: { width: 390, height: 800 } });
      const section = await group(page, 'Observations');
      await section.locator('.opblock-summary-control').first().click();
      const header = section.locator('.responses-table .header-col').first();
      await header.waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(390);
      const lightness = (css: string): number =>
        Math.max(...(css.match(/\d+/g) ?? []).slice(0, 3).map(Number));
      const ground = await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor);
      const words = await header.evaluate((cell) => getComputedStyle(cell).color);
      expect([lightness(ground) < 80, lightness(words) > 180]).to.deep.equal(
        colorScheme === 'dark' ? [true, true] : [false, false],
      );
      expect(complaints).to.deep.equal([]);
    });

  it('shows errors in a dark theme, in lines that are not too long', async () => {
    const page = await open('/docs/errors', true, { colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    const { width } = (await page.locator('main').boundingBox()) ?? { width: 0 };
    expect(width).to.be.within(300, 720);
    expect(await page.locator('body').evaluate((body) => getComputedStyle(body).backgroundColor)).to.equal(
      'rgb(28, 32, 34)',
    );
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
