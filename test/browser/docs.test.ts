/** The documentation page in a real browser that can reach only the service. */
import { expect } from 'chai';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { signIn } from '#test/support/admin.ts';
import { accessibilityFaults, openBrowser, picture } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { someOf } from '#test/support/scale.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

describe('the documentation page in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  /** The browser's error messages, about requests that the policy refused, that failed, or that weren't found. */
  const complaints: string[] = [];
  /** Requests to other hosts, all of which are blocked. */
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
    const section = page.locator('details.group', { has: page.locator(`h2[data-tag="${tag}"]`) });
    await section.locator('summary').first().click();
    await section.locator('a.row').first().waitFor();
    return section;
  };

  /** Opens an operation in the list. */
  const operation = async (section: Locator, id: string) => {
    await section.locator(`a[data-operation="${id}"]`).click();
    const form = section.locator(`#operation-${id} form`);
    await form.waitFor();
    return form;
  };

  /** Sends a form's request. */
  const send = async (form: Locator): Promise<{ status: string; text: string }> => {
    await form.getByRole('button', { name: 'Send' }).click();
    await form.locator('.answer .status').waitFor();
    return {
      status: (await form.locator('.answer .status').textContent())?.slice(0, 3) ?? '',
      text: (await form.locator('.answer').textContent()) ?? '',
    };
  };

  it('shows every group and its operations, asks nobody else for anything, and keeps to its policy', async () => {
    const page = await open('/docs');
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      readonly tags: readonly { readonly name: string }[];
      readonly paths: Readonly<
        Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>
      >;
    };
    const shown = await page
      .locator('details.group h2')
      .evaluateAll((all) => all.map((each) => each.dataset.tag));
    expect(shown).to.deep.equal(document.tags.map(({ name }) => name));
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    expect(await page.locator('a.row').count()).to.equal(operations.length);
    const inService = operations.filter(({ tags }) => tags.includes('Service'));
    expect(await (await group(page, 'Service')).locator('a.row').count()).to.equal(inService.length);
    expect(complaints).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });

  it('keeps the main thread busy for less than 1.5 seconds until the list is shown', async () => {
    const page = await (await browser.newContext()).newPage();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    await page.goto(`${service.url}/docs`);
    await page.locator('details.group').last().waitFor();
    const { metrics } = await session.send('Performance.getMetrics');
    const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.POSITIVE_INFINITY;
    expect(seconds).to.be.within(0.001, 1.5);
    const sizes = (await page.evaluate(
      'performance.getEntries().map((each) => each.transferSize ?? 0)',
    )) as number[];
    expect(
      sizes.reduce((sum, size) => sum + size, 0),
      'bytes',
    ).to.be.below(200_000);
  });

  const looks = [
    [390, 'dark'],
    [1280, 'light'],
  ] as const;
  for (const [width, colorScheme] of someOf(looks, 1))
    it(`passes axe as first opened, and with a group and an operation opened, ${width} pixels wide`, async () => {
      const page = await open('/docs', true, { colorScheme, viewport: { width, height: 800 } });
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await picture(page, `docs-${width}`);
      const section = await group(page, 'FHIR: resources');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await operation(section, 'fhirUpdate');
      await section.locator('#operation-fhirUpdate .answers summary').first().click();
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await picture(page, `docs-operation-${width}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
      for (const path of [
        '/docs/operations/createPatient',
        '/docs/guides',
        '/docs/guides/consents',
        '/docs/search?q=grant',
      ]) {
        await page.goto(service.url + path);
        expect(await accessibilityFaults(page), path).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.equal(width);
        await picture(page, `${path.slice(1).replace(/\W+/g, '-')}-${width}`);
      }
      expect(complaints).to.deep.equal([]);
    });

  it('sends a request with the credential that it was given, shows the answer and the command', async () => {
    const { token } = await signIn(service, 'reader@example.org');
    const page = await open('/docs');
    const form = await operation(await group(page, 'Service'), 'getConfig');
    await form.getByLabel('ID token').fill(token);
    const { status, text } = await send(form);
    expect(status).to.equal('200');
    expect(text).to.contain(service.base);
    const command = (await form.locator('.curl code').textContent()) ?? '';
    expect(command).to.include('curl').and.include('$TOKEN').and.include(`'${service.url}/admin/config'`);
    expect(command).not.to.include(token);
    expect(complaints).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });

  // The test `http/docs-examples` sends all prefilled requests without a browser.
  for (const path of someOf(['/docs'], 0))
    it('sends prefilled requests that work: a new Patient, and an update of it', async () => {
      const page = await open(path);
      const section = await group(page, 'FHIR: resources');
      const execute = async (id: string, rid?: string) => {
        const form = await operation(section, id);
        const credential = form.getByLabel('API key or access token');
        // The page remembers the key for all operations.
        if (id === 'fhirCreate') await credential.fill(service.key);
        expect(await credential.inputValue()).to.equal(service.key);
        if (rid !== undefined) await form.locator('[data-name="rid"]').fill(rid);
        return send(form);
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
      const names = await page
        .locator('details.group h2')
        .evaluateAll((all) => all.map((each) => each.dataset.tag));
      await page.evaluate('for (const each of document.querySelectorAll("details.group")) each.open = true');
      const links = page.getByRole('navigation', { name: 'Groups' }).getByRole('link');
      expect(await links.allTextContents()).to.deep.equal(names);
      for (const name of ['Observations', 'Webhooks', 'Patients']) {
        await links.filter({ hasText: new RegExp(`^${name}$`) }).click();
        // Further down in a group, the group's heading stays at the top, with the list of groups beside or above it.
        await page.mouse.move(width - 60, 600);
        await page.mouse.wheel(0, 150);
        await page.locator(`#groups a[aria-current]`, { hasText: name }).waitFor();
        const top = await page
          .locator(`h2[data-tag="${name}"]`)
          .evaluate((heading) => heading.getBoundingClientRect().top);
        expect(top, name).to.be.within(0, 70);
        for (const link of width > 1000 ? await links.all() : [links.filter({ hasText: name }).first()]) {
          const place = await link.boundingBox();
          expect((place?.y ?? -1) >= 0 && (place?.y ?? 801) < 800, `${name}: a link is out of view`).to.equal(
            true,
          );
        }
      }
    });
  }

  it('shows guides with links that lead on, and finds what is in them', async () => {
    const page = await open('/docs');
    await page.getByRole('link', { name: 'Guides' }).click();
    await page.locator('main a', { hasText: 'Consents' }).first().click();
    await page.waitForURL('**/docs/guides/consents');
    expect(await page.locator('h1').textContent()).to.equal('Consents');
    await page.locator('main').getByRole('link', { name: 'access log' }).first().click();
    await page.waitForURL('**/docs/guides/access-log*');
    await page.getByRole('searchbox').fill('wrong birth date closes');
    await page.keyboard.press('Enter');
    await page.locator('.result a', { hasText: 'Redeeming an invitation' }).click();
    await page.waitForURL('**/docs/guides/consents#redeeming-an-invitation');
    expect(complaints).to.deep.equal([]);
    expect(elsewhere).to.deep.equal([]);
  });

  it('shows errors in a dark theme, in lines that are not too long', async () => {
    const page = await open('/docs/errors', true, { colorScheme: 'dark' });
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    const { width } = (await page.locator('main').boundingBox()) ?? { width: 0 };
    expect(width).to.be.within(300, 720);
    expect(await page.locator('main').evaluate((main) => getComputedStyle(main).backgroundColor)).to.equal(
      'rgb(24, 30, 39)',
    );
  });

  it('shows operations without JavaScript, too', async () => {
    const page = await open('/docs', false);
    expect(await page.locator('a[href="/openapi.json"]').isVisible()).to.equal(true);
    await (await group(page, 'Patients')).locator('a.row').first().click();
    await page.waitForURL('**/docs/operations/*');
    expect(await page.locator('h1').textContent()).not.to.equal('Interfaces');
    expect(await page.locator('.request').isVisible()).to.equal(true);
  });

  it('explains errors on a page that everybody can read', async () => {
    const page = await open('/docs/errors#throttled');
    expect(await page.locator('#throttled').isVisible()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });
});
