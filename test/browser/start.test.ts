/** `GET /` for browsers and for programs. */
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { accessibilityFaults, openBrowser } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('the start of the service', () => {
  let service: InProcess;
  let browser: Browser | undefined;

  before(async () => {
    [service, browser] = await Promise.all([startInProcess(), openBrowser()]);
  });

  after(async () => {
    await browser?.close();
    await service.stop();
    await removeTemporaryFolders();
  });

  const get = (accept: string, init: RequestInit = {}) =>
    fetch(`${service.url}/`, { ...init, headers: { Accept: accept } });

  it('is an index for programs, whose URLs answer', async () => {
    for (const accept of ['*/*', 'application/json', 'text/html;q=0.5, application/json', 'image/png']) {
      const answer = await get(accept);
      expect([answer.status, answer.headers.get('vary')], accept).to.deep.equal([200, 'Accept']);
      const index = (await answer.json()) as Record<string, string>;
      expect(index).to.include({ name: 'Annal', base_url: service.url, fhir: `${service.url}/fhir/R4` });
      for (const name of ['capability_statement', 'docs', 'guides', 'openapi', 'errors', 'health', 'sign_in'])
        expect((await fetch(index[name] ?? '')).status, name).to.equal(200);
    }
    expect((await get('*/*', { method: 'HEAD' })).status).to.equal(200);
    const wrong = await get('*/*', { method: 'POST' });
    expect([wrong.status, wrong.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
  });

  it('offers no sign-in where there is no development issuer', async () => {
    const other = await startInProcess({}, { MODE: 'production' });
    try {
      expect(await (await fetch(`${other.url}/`)).json()).to.include({ sign_in: null });
      const page = await (await fetch(`${other.url}/`, { headers: { Accept: BROWSER } })).text();
      expect(page).to.include('/docs"').and.not.include('/dev"');
      expect(page).to.include("require('./.annal/quickstart.json')");
    } finally {
      await other.stop();
    }
  });

  it('is a page for browsers: its links work, it is accessible, and keeps to its policy', async function () {
    const answer = await get(BROWSER);
    expect(answer.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(answer.headers.get('content-security-policy')).to.match(/^default-src 'none'; style-src 'sha256-/);
    const text = await answer.text();
    expect(text).to.match(/KEY=\$\(node -p "require\('\/\S+\/quickstart\.json'\)\.sandbox_key"\)/);
    expect(text).to.include(`'${service.url}/fhir/R4/Patient?_count=5'`);
    if (browser === undefined) return this.skip();
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [360, 'dark'],
    ] as const) {
      const context = await browser.newContext({
        viewport: { width, height: 800 },
        colorScheme,
        javaScriptEnabled: true,
      });
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      await page.goto(`${service.url}/`);
      expect(await accessibilityFaults(page), colorScheme).to.deep.equal([]);
      const wide = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
      expect(wide, `${width} pixels`).to.equal(false);
      const links = await page
        .locator('a')
        .evaluateAll((all) => all.map((each) => String(Reflect.get(each, 'href'))));
      expect(links).to.have.length(9);
      for (const link of links) expect((await fetch(link)).status, link).to.equal(200);
      await page.getByRole('link', { name: 'Development sign-in' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(complaints).to.deep.equal([]);
      await context.close();
    }
  });
});
